#include "apps/bench/cases.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "zhalo/core/error.hpp"
#include "zhalo/ics/points.hpp"

namespace zhalo::bench {

double PointSet::mean_separation() const {
  return box_length / std::cbrt(static_cast<double>(num()));
}

PointSet read_points(const std::string& path, double box_length) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  const std::streamoff bytes = file.tellg();
  if (bytes % 12 != 0) {
    throw FileError(fmt::format(
        "'{}' has {} bytes, not a multiple of 12 (must hold raw float32 positions, 3 per particle)",
        path, bytes));
  }
  PointSet points{std::vector<float>(static_cast<std::size_t>(bytes) / sizeof(float)), box_length};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(points.pos.data()), bytes);
  if (!file) throw FileError(fmt::format("cannot read '{}'", path));
  return points;
}

const PointSet& PointStore::get(const PointSource& source) {
  if (key_ != source.key) {
    points_ = PointSet{};  // gives the old one back before the new one is made
    points_ = source.make();
    key_ = source.key;
  }
  return points_;
}

BoundPoints::BoundPoints(const Exec& exec, const PointSet& points) {
  const float* pos = points.pos.data();
  if (std::holds_alternative<Cuda>(exec)) {
    on_device_ = to_exec(exec, Span<const float>(points.pos), "benchmark positions");
    pos = on_device_.data();
  }
  particles_.segments = {ParticleSegment<float>::interleaved(pos, points.num())};
}

namespace {

constexpr double linking_lengths[] = {0.2, 0.7};
constexpr int neighbour_numbers[] = {8, 16, 32, 64};
constexpr Index grid_sizes[] = {128, 256, 512};
constexpr Window windows[] = {Window::ngp, Window::cic, Window::tsc, Window::pcs};

/// If there is one.
template <class Case>
void add_on_device(std::vector<Case>& cases, const Case& one) {
  if (query_devices().num_devices == 0) return;
  cases.push_back(one);
  cases.back().name += "/exec:cuda";
  cases.back().make_exec = [] { return cuda_exec(); };
}

/// Adds the case on each Exec of interest.
template <class Case>
void add_on_all_execs(std::vector<Case>& cases, const Case& one,
                      const std::vector<Index>& numbers_of_threads = {1, 2}) {
  for (const Index threads : numbers_of_threads) {
    cases.push_back(one);
    cases.back().name += fmt::format("/threads:{}", threads);
    cases.back().make_exec = [threads] { return host_exec(static_cast<int>(threads)); };
  }
  add_on_device(cases, one);
}

PointSource source_of(const PointsFile& file) {
  return {"file", [file] { return read_points(file.path, file.box_length.value_or(1)); }};
}

/// Generated points by their names: "clustered", "1e6".
struct Sort {
  std::string kind;
  std::string size;
  Index num = 0;

  PointSource source(std::uint64_t seed) const {
    return {
        fmt::format("{}/{}/{}", kind, size, seed), [sort = *this, seed] {
          return PointSet{points::make_points(points::kind_of(sort.kind), sort.num, seed).pos, 1};
        }};
  }
};

void add_generated(Cases& cases, const Sort& sort) {
  const std::string points = fmt::format("{}/{}", sort.kind, sort.size);
  const PointSource particles = sort.source(1);
  for (const double b : linking_lengths) {
    add_on_all_execs(cases.fof,
                     FofCase{fmt::format("fof/{}/b{}", points, b), particles, b, false, {}});
  }
  for (const int k : neighbour_numbers) {
    add_on_all_execs(
        cases.knn, KnnCase{fmt::format("knn/self/{}/k{}", points, k), particles, {}, k, false, {}});
    add_on_all_execs(
        cases.knn,
        KnnCase{
            fmt::format("knn/queries/{}/k{}", points, k), particles, sort.source(2), k, false, {}});
    add_on_all_execs(
        cases.knn,
        KnnCase{fmt::format("knn/reduce/{}/k{}", points, k), particles, {}, k, true, {}});
  }
}

const char* word_of(MeshWork work) {
  switch (work) {
    case MeshWork::paint: return "paint";
    case MeshWork::readout: return "readout";
    default: return "power";
  }
}

/// About as many cells as points, a power of 2 along each axis.
void add_mesh(Cases& cases, const Sort& sort, Index num_cells) {
  for (const MeshWork work : {MeshWork::paint, MeshWork::readout, MeshWork::power}) {
    for (const Window window : windows) {
      for (const bool in_z_order : {true, false}) {
        const std::string name =
            fmt::format("{}/{}/{}/{}/{}", word_of(work), name_of(window), sort.kind, sort.size,
                        in_z_order ? "z-order" : "random");
        MeshCase one;
        one.name = name;
        one.source = sort.source(1);
        one.work = work;
        one.window = window;
        one.in_z_order = in_z_order;
        one.num_cells = num_cells;
        add_on_all_execs(cases.mesh, one);
      }
    }
  }
}

}  // namespace

Cases generated_cases() {
  Cases cases;
  for (const char* kind : {"uniform", "clustered"}) {
    add_generated(cases, {kind, "1e5", 100'000});
    add_generated(cases, {kind, "1e6", 1'000'000});
    add_generated(cases, {kind, "1e7", 10'000'000});
    // The size for which devices are taken: hosts would need minutes.
    const Sort many{kind, "1e8", 100'000'000};
    add_on_device(cases.fof,
                  FofCase{fmt::format("fof/{}/1e8/b0.2", kind), many.source(1), 0.2, false, {}});
    add_mesh(cases, {kind, "1e6", 1'000'000}, 128);
    add_mesh(cases, {kind, "1e7", 10'000'000}, 256);
  }
  for (const Index num : grid_sizes) {
    for (const bool is_float : {true, false}) {
      const std::string size = fmt::format("{}/{}", is_float ? "float" : "double", num);
      add_on_all_execs(cases.fft, TransformCase{"fft/" + size, num, is_float, false, {}});
      add_on_device(cases.fft, TransformCase{"cufft/" + size, num, is_float, true, {}});
    }
  }
  // The size for which devices are taken.
  for (const bool is_float : {true, false}) {
    const std::string size = fmt::format("{}/1024", is_float ? "float" : "double");
    add_on_device(cases.fft, TransformCase{"fft/" + size, 1024, is_float, false, {}});
    add_on_device(cases.fft, TransformCase{"cufft/" + size, 1024, is_float, true, {}});
  }
  add_on_device(cases.copies, CopyCase{"copy/1GiB", Index{1} << 30, {}});
  return cases;
}

Cases file_cases(const PointsFile& file) {
  Cases cases;
  const PointSource source = source_of(file);
  if (file.linking_length) {
    const std::string name = fmt::format("fof/points/rlink:{}", *file.linking_length);
    add_on_all_execs(cases.fof, FofCase{name, source, *file.linking_length, true, {}},
                     file.threads);
    return cases;
  }
  for (const double b : linking_lengths) {
    add_on_all_execs(cases.fof, FofCase{fmt::format("fof/points/b{}", b), source, b, false, {}},
                     file.threads);
  }
  for (const int k : neighbour_numbers) {
    add_on_all_execs(cases.knn, KnnCase{fmt::format("knn/points/k{}", k), source, {}, k, false, {}},
                     file.threads);
  }
  for (const MeshWork work : {MeshWork::paint, MeshWork::power}) {
    for (const Window window : windows)
      add_on_all_execs(cases.mesh, mesh_case_of(file, work, window), file.threads);
  }
  return cases;
}

KnnCase neighbours_case(const PointsFile& file, int k) {
  return {fmt::format("knn/points/k{}", k), source_of(file), {}, k, false,
          [] { return host_exec(1); }};
}

MeshCase mesh_case_of(const PointsFile& file, MeshWork work, Window window) {
  MeshCase one;
  one.name = fmt::format("{}/points/{}", word_of(work), name_of(window));
  one.source = source_of(file);
  one.work = work;
  one.window = window;
  one.num_cells = file.num_cells;
  one.make_exec = [] { return host_exec(1); };
  return one;
}

}  // namespace zhalo::bench
