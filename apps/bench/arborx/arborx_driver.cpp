/// Times ArborX's friends-of-friends and k nearest neighbours of the points of a file, for
/// scripts/gpu-compare, which builds this file beside it; no target of zhalo's own build does.
///   arborx_driver POINTS LENGTH REPETITIONS OUT K...
/// POINTS: raw float32 (N, 3). There is no periodic box: ArborX knows none. Writes OUT/labels (raw
/// int64: an index that all of a group share, its own for a particle that is alone) and, for each
/// K, OUT/neighbours-K (raw float32 distances (N, k), then int64 indices (N, k)). Prints JSON.
#include <ArborX.hpp>
#include <ArborX_DBSCAN.hpp>
#include <ArborX_Version.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Point = ArborX::Point<3>;
using Points = Kokkos::View<Point*, Memory>;
using Indices = Kokkos::View<int*, Memory>;

std::vector<Point> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::streamoff bytes = file.tellg();
  std::vector<Point> points(static_cast<std::size_t>(bytes) / sizeof(Point));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(points.data()), bytes);
  return points;
}

template <class T>
void append(std::ofstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

/// "first_seconds" and "seconds" of a call and its repetitions.
std::string timed(int repetitions, const std::function<void()>& work) {
  std::string text;
  for (int i = 0; i <= repetitions; ++i) {
    Kokkos::fence();
    const auto start = std::chrono::steady_clock::now();
    work();
    Kokkos::fence();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    text += i == 0 ? "{\"first_seconds\": " : i == 1 ? ", \"seconds\": [" : ", ";
    text += std::to_string(passed.count());
  }
  return text + "]}";
}

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
}

std::string find_groups(const Points& points, float length, int repetitions,
                        const std::string& out) {
  Indices labels("labels", 0);
  const std::string seconds =
      timed(repetitions, [&] { ArborX::dbscan(Space{}, points, length, 2, labels); });
  const auto found = on_host(labels);
  std::vector<std::int64_t> label(found.size());
  for (std::size_t i = 0; i < label.size(); ++i)
    label[i] = found(i) < 0 ? static_cast<std::int64_t>(i) : found(i);
  std::ofstream file(out + "/labels", std::ios::binary);
  append(file, label);
  if (!file.flush()) throw std::runtime_error("cannot write to " + out);
  return seconds;
}

/// Rows of k, by distance.
void write_rows(const std::string& path, const std::vector<Point>& points, const Indices& indices,
                std::size_t k) {
  const auto found = on_host(indices);
  if (found.size() != points.size() * k)
    throw std::runtime_error("ArborX found too few neighbours");
  std::vector<float> distance(found.size());
  std::vector<std::int64_t> index(found.size());
  std::vector<std::pair<double, int>> row(k);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      const int other = found(i * k + j);
      double squares = 0;
      for (int axis = 0; axis < 3; ++axis)
        squares += std::pow(static_cast<double>(points[static_cast<std::size_t>(other)][axis]) -
                                static_cast<double>(points[i][axis]),
                            2);
      row[j] = {std::sqrt(squares), other};
    }
    std::sort(row.begin(), row.end());
    for (std::size_t j = 0; j < k; ++j) {
      distance[i * k + j] = static_cast<float>(row[j].first);
      index[i * k + j] = row[j].second;
    }
  }
  std::ofstream file(path, std::ios::binary);
  append(file, distance);
  append(file, index);
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

/// What is kept of a point that is found.
struct OnlyIndex {
  template <class Query, class Value, class Output>
  KOKKOS_FUNCTION void operator()(const Query& /*query*/, const Value& value,
                                  const Output& output) const {
    output(static_cast<int>(value.index));
  }
};

/// Tree and search, as ours.
std::string find_neighbours(const Points& points, const std::vector<Point>& on_this_side, int k,
                            int repetitions, const std::string& out) {
  Indices indices("indices", 0);
  const std::string seconds = timed(repetitions, [&] {
    Indices offsets("offsets", 0);
    indices = Indices("indices", 0);
    const ArborX::BoundingVolumeHierarchy tree(Space{},
                                               ArborX::Experimental::attach_indices(points));
    tree.query(Space{}, ArborX::Experimental::make_nearest(points, k), OnlyIndex{}, indices,
               offsets);
  });
  write_rows(out + "/neighbours-" + std::to_string(k), on_this_side, indices,
             static_cast<std::size_t>(k));
  return seconds;
}

void run(int argc, char** argv) {
  const std::vector<Point> on_this_side = read(argv[1]);
  const float length = std::strtof(argv[2], nullptr);
  const int repetitions = std::max(1, std::atoi(argv[3]));
  const std::string out = argv[4];
  const auto points = Kokkos::create_mirror_view_and_copy(
      Memory{}, Kokkos::View<const Point*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                    on_this_side.data(), on_this_side.size()));
  const Points own("points", on_this_side.size());
  Kokkos::deep_copy(own, points);
  std::string text = std::string("{\"peer\": \"ArborX ") + ArborX::version() +
                     "\", \"device\": \"" + Space::name() + "\", \"fof\": ";
  text += find_groups(own, length, repetitions, out) + ", \"knn\": {";
  for (int i = 5; i < argc; ++i) {
    text += std::string(i > 5 ? ", " : "") + '"' + argv[i] + "\": ";
    text += find_neighbours(own, on_this_side, std::atoi(argv[i]), repetitions, out);
  }
  std::printf("%s}}\n", text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: arborx_driver POINTS LENGTH REPETITIONS OUT K...\n");
    return 2;
  }
  const Kokkos::ScopeGuard guard;
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arborx_driver: %s\n", error.what());
    return 1;
  }
  return 0;
}
