/// Times nanoflann's k nearest neighbours of the points of a file, for scripts/compare-peers,
/// which compiles this file; no target of the build does. Prints CPU seconds: of building the tree,
/// of querying all points in their own order, and in the tree's order.
///   nanoflann_driver POINTS K [OUT]
/// POINTS: raw float32 (N, 3). OUT: raw float32 squared distances (N, k), then int64 indices (N,
/// k), in the points' order.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "nanoflann.hpp"

namespace {

/// nanoflann's view of the points.
struct Points {
  std::vector<float> pos;

  std::size_t kdtree_get_point_count() const { return pos.size() / 3; }
  float kdtree_get_pt(std::size_t i, std::size_t axis) const { return pos[3 * i + axis]; }
  template <class Bounds>
  bool kdtree_get_bbox(Bounds& /*bounds*/) const {
    return false;
  }
};

using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Points>,
                                                 Points, 3, std::uint32_t>;

/// The points in the order of the tree. Before nanoflann 1.5 the name has no underscore.
template <class AnyTree>
auto order_of(const AnyTree& tree, int /*first choice*/) -> decltype((tree.vAcc_)) {
  return tree.vAcc_;
}
template <class AnyTree>
auto order_of(const AnyTree& tree, long /*second choice*/) -> decltype((tree.vAcc)) {
  return tree.vAcc;
}

Points read(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error(std::string("cannot open ") + path);
  const std::streamoff bytes = file.tellg();
  Points points{std::vector<float>(static_cast<std::size_t>(bytes) / sizeof(float))};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(points.pos.data()), bytes);
  return points;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Rows of k, one per query.
struct Rows {
  std::vector<float> distance2;
  std::vector<std::uint32_t> index;
};

/// Seconds of all queries; the rows stand in the order of the queries.
double query(const Tree& tree, const Points& points, const std::vector<std::uint32_t>& order,
             std::size_t k, Rows& rows) {
  const double start = cpu_seconds();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t q = order[i];
    static_cast<void>(
        tree.knnSearch(&points.pos[3 * q], k, &rows.index[i * k], &rows.distance2[i * k]));
  }
  return cpu_seconds() - start;
}

void write(const char* path, const Rows& rows) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(rows.distance2.data()),
             static_cast<std::streamsize>(rows.distance2.size() * sizeof(float)));
  const std::vector<std::int64_t> index(rows.index.begin(), rows.index.end());
  file.write(reinterpret_cast<const char*>(index.data()),
             static_cast<std::streamsize>(index.size() * sizeof(std::int64_t)));
  file.close();
  if (!file) throw std::runtime_error(std::string("cannot write ") + path);
}

void run(const char* path, std::size_t k, const char* out) {
  const Points points = read(path);
  const std::size_t num = points.kdtree_get_point_count();
  if (k < 1 || k > num) throw std::runtime_error("K must be 1 to the number of points");
  // Both are touched before the clock starts, so that the first queries do not pay for new memory.
  Rows rows{std::vector<float>(num * k, 0.0F), std::vector<std::uint32_t>(num * k, 0)};
  std::vector<std::uint32_t> own_order(num);
  for (std::size_t i = 0; i < num; ++i) own_order[i] = static_cast<std::uint32_t>(i);

  const double start = cpu_seconds();
  const Tree tree(3, points, nanoflann::KDTreeSingleIndexAdaptorParams(10));
  const double build = cpu_seconds() - start;
  const double in_tree_order = query(tree, points, order_of(tree, 0), k, rows);
  const double in_own_order = query(tree, points, own_order, k, rows);
  std::printf("%.9f %.9f %.9f\n", build, in_own_order, in_tree_order);
  if (out != nullptr) write(out, rows);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: nanoflann_driver POINTS K [OUT]\n");
    return 2;
  }
  try {
    run(argv[1], std::strtoull(argv[2], nullptr, 10), argc == 4 ? argv[3] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanoflann_driver: %s\n", error.what());
    return 1;
  }
  return 0;
}
