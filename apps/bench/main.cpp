/// zhalo_bench: times friends-of-friends, the catalogue and the k nearest neighbours, on generated
/// points or on a file's, painting and readout of meshes, and Fourier transforms.
#include <benchmark/benchmark.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "apps/bench/cases.hpp"
#include "apps/cli/command_line.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/ics/points.hpp"

namespace {

using namespace zhalo;

struct Options {
  bench::PointsFile points;
  std::string labels_file;
  std::string neighbours_file;
  std::optional<int> k;
  std::string field_file;
  std::string power_file;
  std::optional<std::string> window;
  std::optional<std::string> compensation;
  bool on_device = false;
  std::string write_points;
  std::optional<std::string> kind;
  std::optional<double> num;
  std::optional<std::uint64_t> seed;
  bool in_z_order = false;
  std::vector<std::string> for_benchmark;
};

constexpr const char* explanation =
    "Other flags are google-benchmark's: --benchmark_filter=REGEX, --benchmark_list_tests, "
    "--benchmark_repetitions=N,\n"
    "--benchmark_out=FILE (JSON). Cases: "
    "fof/{uniform,clustered}/{1e5,1e6,1e7}/b{0.2,0.7}/threads:{1,2} and\n"
    "fof/{uniform,clustered}/1e8/b0.2 on a device, and\n"
    "knn/{self,queries,reduce}/{uniform,clustered}/{1e5,1e6,1e7}/k{8,16,32,64}/threads:{1,2} and\n"
    "{paint,readout,power}/{ngp,cic,tsc,pcs}/{uniform,clustered}/{1e6,1e7}/{z-order,random}/"
    "threads:{1,2} and\n"
    "fft/{float,double}/{128,256,512}/threads:{1,2}, on a CUDA device cufft/... of the same kind;\n"
    "with --points\n"
    "fof/points/b{0.2,0.7}/threads:{1,2}, knn/points/k{8,16,32,64}/threads:{1,2} and\n"
    "{paint,power}/points/{ngp,cic,tsc,pcs}/threads:{1,2}, with --rlink-abs only\n"
    "fof/points/rlink:X/threads:{1,2}; on a CUDA device also .../exec:cuda";

void add_points_options(app::CommandLine& command, bench::PointsFile& points) {
  command.add_option("--points", points.path,
                     "Time the points of FILE: raw little-endian float32 (N, 3)", "FILE");
  command.add_option("--box-size", points.box_length,
                     "Side of the periodic cube that holds the file's points [1]", "L");
  command.add_option("--rlink-abs", points.linking_length,
                     "Linking length in the file's unit [0.2 and 0.7 mean separations, in turn]",
                     "X");
  command.add_list("--threads", points.threads, "Numbers of threads of these cases [1,2]", "T,..");
  command.add_option("--grid", points.num_cells, "Cells of their meshes along each axis [128]",
                     "N");
}

void add_result_options(app::CommandLine& command, Options& options) {
  command.add_option("--write-labels", options.labels_file,
                     "Only write each particle's label (raw int64, smallest index of its group)",
                     "FILE");
  command.add_option("--write-neighbours", options.neighbours_file,
                     "Only write each particle's nearest neighbours (raw: float32 distances (N, "
                     "k), then int64 indices (N, k))",
                     "FILE");
  command.add_option("--k", options.k,
                     "Number of these neighbours, the particle itself included [8]", "K");
  command.add_option("--write-field", options.field_file,
                     "Only write the points painted on a mesh (raw float32, the last axis fastest)",
                     "FILE");
  command.add_option("--write-power", options.power_file,
                     "Only write their power spectrum (raw float64: mean k, power and number of "
                     "modes of each bin)",
                     "FILE");
  command.add_option("--compensation", options.compensation,
                     "Of that spectrum: none, window or shot-noise [window]", "NAME");
  command.add_option("--window", options.window, "Of that mesh: ngp, cic, tsc or pcs [cic]",
                     "NAME");
  command.add_flag("--device", options.on_device,
                   "The labels or neighbours that are written are found by a CUDA device, not by "
                   "one thread");
}

void add_options(app::CommandLine& command, Options& options) {
  add_points_options(command, options.points);
  add_result_options(command, options);
  command.add_option("--write-points", options.write_points,
                     "Only write generated points, as --points reads them", "FILE");
  command.add_option("--kind", options.kind, "uniform, clustered or dense [clustered]", "WHICH");
  command.add_option("--num", options.num, "Number of points [1e6]", "N");
  command.add_option("--seed", options.seed, "Of the generator [1]", "S");
  command.add_flag("--z-order", options.in_z_order,
                   "Write the points along the Z-order, not in random order");
  command.keep_unknown(options.for_benchmark);
}

void demand(bool good, const char* message) {
  if (!good) throw InputError(message);
}

void check(const Options& options) {
  const bench::PointsFile& points = options.points;
  const bool reads = !points.path.empty();
  const bool writes = !options.write_points.empty();
  const int num_outputs = !options.labels_file.empty() + !options.neighbours_file.empty() +
                          !options.field_file.empty() + !options.power_file.empty();
  demand(reads || (!points.box_length && !points.linking_length && num_outputs == 0),
         "--box-size, --rlink-abs, or an option that writes a result, is given without --points: "
         "which points are meant?");
  demand(points.linking_length.value_or(1) > 0, "--rlink-abs must be positive");
  demand(options.labels_file.empty() || points.linking_length,
         "--write-labels is given without --rlink-abs");
  demand(num_outputs <= 1,
         "several of --write-labels, --write-neighbours, --write-field and --write-power are "
         "given: which one is meant?");
  demand(!options.k || !options.neighbours_file.empty(), "--k is given without --write-neighbours");
  demand(!options.on_device || !options.labels_file.empty() || !options.neighbours_file.empty(),
         "--device is given without --write-labels or --write-neighbours");
  demand(!options.window || !options.field_file.empty() || !options.power_file.empty(),
         "--window is given without --write-field or --write-power");
  demand(!options.compensation || !options.power_file.empty(),
         "--compensation is given without --write-power");
  demand(points.num_cells >= 1 && points.num_cells <= 4096, "--grid must be 1 to 4096");
  for (const Index threads : points.threads)
    demand(threads >= 1 && threads <= 4096, "--threads must be 1 to 4096");
  demand(!writes || !reads, "--write-points and --points are both given: which one is meant?");
  demand(writes || (!options.kind && !options.num && !options.seed && !options.in_z_order),
         "--kind, --num, --seed or --z-order is given without --write-points");
  demand(options.num.value_or(0) >= 0 && options.num.value_or(0) <= 4e9, "--num must be 0 to 4e9");
}

template <class T>
void append_raw(std::ofstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

template <class... Columns>
void write_raw(const std::string& path, const Columns&... columns) {
  std::ofstream file(path, std::ios::binary);
  (append_raw(file, columns), ...);
  file.close();
  if (!file) throw FileError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

/// "model name" of Linux's /proc/cpuinfo.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

template <class Case, class PointSets>
void add_benchmarks(const std::vector<Case>& cases, PointSets& point_sets) {
  for (const Case& one : cases) {
    benchmark::RegisterBenchmark(one.name.c_str(), [&point_sets, one](benchmark::State& state) {
      bench::run(state, one, point_sets);
    })->Unit(benchmark::kMillisecond);
  }
}

/// Of cases that need no points.
template <class Case>
void add_benchmarks(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    benchmark::RegisterBenchmark(one.name.c_str(), [one](benchmark::State& state) {
      bench::run(state, one);
    })->Unit(benchmark::kMillisecond);
  }
}

void run_benchmarks(const Options& options, const char* program) {
  bench::PointStore fof_points;
  bench::KnnPoints knn_points;
  bench::PointStore mesh_points;
  const bench::Cases cases =
      options.points.path.empty() ? bench::generated_cases() : bench::file_cases(options.points);
  add_benchmarks(cases.fof, fof_points);
  add_benchmarks(cases.knn, knn_points);
  add_benchmarks(cases.mesh, mesh_points);
  add_benchmarks(cases.fft);
  add_benchmarks(cases.copies);
  std::vector<std::string> words{program, "--benchmark_counters_tabular=true"};
  words.insert(words.end(), options.for_benchmark.begin(), options.for_benchmark.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw InputError(fmt::format("unknown option '{}'; see --help", arguments[1]));
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("zhalo_exec", describe(host_exec(1)));
  benchmark::AddCustomContext("zhalo_build",
                              ZHALO_CHECKED != 0 ? "Debug: times mean nothing" : "Release");
  benchmark::RunSpecifiedBenchmarks();
}

void write_labels(const Options& options) {
  bench::FofCase one = bench::file_cases(options.points).fof.front();
  if (options.on_device) one.make_exec = [] { return cuda_exec(); };
  write_raw(options.labels_file, bench::labels(one, one.source.make()));
}

void write_neighbours(const Options& options) {
  bench::KnnCase one = bench::neighbours_case(options.points, options.k.value_or(8));
  if (options.on_device) one.make_exec = [] { return cuda_exec(); };
  const bench::NeighbourTable table = bench::neighbours(one, one.particles.make());
  write_raw(options.neighbours_file, table.distance, table.index);
}

Window window_of(const std::string& name) {
  for (const Window window : {Window::ngp, Window::cic, Window::tsc, Window::pcs}) {
    if (name == name_of(window)) return window;
  }
  throw InputError(fmt::format("--window is '{}' (must be ngp, cic, tsc or pcs)", name));
}

Compensation compensation_of(const std::string& name) {
  if (name == "none") return Compensation::none;
  if (name == "window") return Compensation::window;
  if (name == "shot-noise") return Compensation::shot_noise;
  throw InputError(
      fmt::format("--compensation is '{}' (must be none, window or shot-noise)", name));
}

void write_mesh(const Options& options, bench::MeshWork work) {
  const Window window = window_of(options.window.value_or("cic"));
  bench::MeshCase one = bench::mesh_case_of(options.points, work, window);
  if (work == bench::MeshWork::power) {
    one.compensation = compensation_of(options.compensation.value_or("window"));
    write_raw(options.power_file, bench::power(one, one.source.make()));
  } else {
    write_raw(options.field_file, bench::painted(one, one.source.make()));
  }
}

/// Rows of (N, 3), in the order of a domain.
std::vector<float> in_z_order(const std::vector<float>& rows) {
  const auto num = static_cast<Index>(rows.size() / 3);
  Particles<float> particles;
  particles.segments = {ParticleSegment<float>::interleaved(rows.data(), num)};
  const Context context{.comm = {}, .exec = host_exec(), .timers = nullptr};
  const Domain<float> domain(context, particles, Box::periodic_cube(1));
  std::vector<float> sorted(rows.size());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Span<const float> from = domain.position(static_cast<int>(axis));
    for (std::size_t i = 0; i < rows.size() / 3; ++i)
      sorted[3 * i + axis] = from[static_cast<Index>(i)];
  }
  return sorted;
}

void write_points(const Options& options) {
  const points::Kind kind = points::kind_of(options.kind.value_or("clustered"));
  const Index num = std::llround(options.num.value_or(1e6));
  const points::Points points = points::make_points(kind, num, options.seed.value_or(1));
  write_raw(options.write_points, options.in_z_order ? in_z_order(points.pos) : points.pos);
}

void perform(const Options& options, const char* program) {
  if (!options.write_points.empty()) {
    write_points(options);
  } else if (!options.labels_file.empty()) {
    write_labels(options);
  } else if (!options.neighbours_file.empty()) {
    write_neighbours(options);
  } else if (!options.field_file.empty()) {
    write_mesh(options, bench::MeshWork::paint);
  } else if (!options.power_file.empty()) {
    write_mesh(options, bench::MeshWork::power);
  } else {
    run_benchmarks(options, program);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    app::CommandLine command({.name = "zhalo_bench",
                              .usage = "[OPTION...]",
                              .summary = "Times zhalo's friends-of-friends, catalogue, k nearest "
                                         "neighbours, painting, readout and Fourier transforms.",
                              .footer = explanation});
    add_options(command, options);
    if (const auto help = command.parse(argc, argv)) {
      std::cout << *help;
      return 0;
    }
    check(options);
    perform(options, argv[0]);
  } catch (const std::exception& error) {
    std::cerr << "zhalo_bench: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
