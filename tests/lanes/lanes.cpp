// The texts that are written for Groups, on emulated lanes: the results are those of brute force
// and of the vector groups, and under ThreadSanitizer (preset tsan) no sync() is missing.
#include <catch2/catch.hpp>

#include "tests/lanes/emulated_lanes.hpp"
#include "tests/lanes/small_tree.hpp"

namespace zhalo::testing {
namespace {

/// Links leaves with each other on emulated lanes, and compares with brute force.
template <class Case>
void check_links(const PointSet<typename Case::Real>& points, int leaf_size, int walk_level) {
  using Real = typename Case::Real;
  using Lanes = typename Case::Lanes;
  INFO("leaf size " << leaf_size << ", walks from level " << walk_level);
  const SmallTree<Real> small(points, leaf_size);
  if (walk_level >= small.tree().num_levels) return;
  Buffer<LocalIndex> parent;
  Buffer<std::uint8_t> connected;
  const auto fof = small.fof(parent, connected, walk_level);
  kernels::link_inside(small.exec(), fof);
  for_each_emulated<Lanes>(Case::num_warps, fof.tree.level_size[walk_level],
                           kernels::emulated::LinkBetween<Lanes>{{fof}});
  CHECK(small.labels(fof.sets) == brute_force_groups(points));
}

template <class Lanes>
void check_boxes(const PointSet<typename Lanes::real>& points, int leaf_size) {
  using Real = typename Lanes::real;
  const SmallTree<Real> small(points, leaf_size);
  kernels::TreeView<Real> tree = small.tree();
  const int top = tree.num_levels - 1;
  const Index num_nodes = tree.level_first[top] + tree.level_size[top];
  std::vector<std::vector<Real>> room(6,
                                      std::vector<Real>(static_cast<std::size_t>(num_nodes), -1));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    tree.boxes.lo[axis] = room[2 * axis].data();
    tree.boxes.hi[axis] = room[2 * axis + 1].data();
  }
  using LeafBox = kernels::emulated::LeafBox<Lanes>;
  for_each_emulated<Lanes>(1, tree.level_size[0] / LeafBox::together, LeafBox{tree});
  for (int level = 1; level < tree.num_levels; ++level) {
    for_each_emulated<Lanes>(1, tree.level_size[level],
                             kernels::emulated::NodeBox<Lanes>{tree, level});
  }
  for (int axis = 0; axis < 3; ++axis) {
    for (Index node = 0; node < num_nodes; ++node) {
      CHECK(tree.boxes.lo[axis][node] == small.tree().boxes.lo[axis][node]);
      CHECK(tree.boxes.hi[axis][node] == small.tree().boxes.hi[axis][node]);
    }
  }
}

Box open_square() { return Box::unbounded(2); }

}  // namespace

TEMPLATE_TEST_CASE("boxes on emulated lanes equal those of the vector groups", "[lanes]",
                   (EmulatedLanes<float, 1>), (EmulatedLanes<float, 4>), (EmulatedLanes<double, 4>),
                   (EmulatedLanes<float, 32>)) {
  using Real = typename TestType::real;
  check_boxes<TestType>(uniform_points<Real>(300, Box::periodic_cube(1), 0.1, 1), 3);
  check_boxes<TestType>(uniform_points<Real>(100, open_square(), 0.1, 2), 40);
}

TEMPLATE_TEST_CASE("links on emulated lanes are those of brute force", "[lanes]", (Case<float, 1>),
                   (Case<float, 4>), (Case<double, 4>), (Case<float, 4, 3>), (Case<float, 32>),
                   (Case<double, 32>)) {
  using Real = typename TestType::Real;
  const Box periodic = Box::periodic_cube(1);
  SECTION("uniform, periodic") {
    check_links<TestType>(uniform_points<Real>(220, periodic, 0.13, 3), 12, 0);
  }
  SECTION("uniform, open") {
    check_links<TestType>(uniform_points<Real>(220, Box::unbounded(), 0.13, 4), 12, 1);
  }
  SECTION("knots over the edges") {
    check_links<TestType>(knotted_points<Real>(200, periodic, 0.05, 0.06), 16, 1);
  }
  SECTION("two dimensions") {
    check_links<TestType>(uniform_points<Real>(200, Box::periodic_cube(1, 2), 0.05, 5), 8, 0);
  }
  SECTION("a lattice exactly the linking length apart") {
    check_links<TestType>(lattice_points<Real>(5, 0.25), 20, 0);
  }
  SECTION("a linking length of half the box") {
    check_links<TestType>(uniform_points<Real>(60, periodic, 0.5, 6), 4, 0);
  }
}

TEMPLATE_TEST_CASE("links on emulated lanes: clumps of any size, and next to no particles",
                   "[lanes]", (Case<float, 4>), (Case<double, 32>)) {
  using Real = typename TestType::Real;
  const Box periodic = Box::periodic_cube(1);
  PointSet<Real> clumps{{}, periodic, 0.1};  // three positions, two of them friends across an edge
  for (int i = 0; i < 210; ++i) {
    for (const double x : {i % 3 == 0 ? 0.97 : (i % 3 == 1 ? 0.03 : 0.5), 0.5, 0.5})
      clumps.pos.push_back(static_cast<Real>(x));
  }
  check_links<TestType>(clumps, 8, 0);
  for (const Index num : {0, 1, 2})
    check_links<TestType>(uniform_points<Real>(num, periodic, 0.4, 8), 32, 0);
}

}  // namespace zhalo::testing
