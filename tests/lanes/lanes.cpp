// The texts that are written for Groups, on emulated lanes: the results are those of brute force and of the vector groups, and under
// ThreadSanitizer (preset tsan) no sync() is missing.
#include <catch2/catch.hpp>

#include "tests/lanes/emulated_group.hpp"
#include "tests/lanes/small_tree.hpp"

namespace zhalo::testing {
namespace {

template <class RealType, int NumLanes, int NumGroups = 1>
struct Case {
  using Real = RealType;
  using Group = EmulatedGroup<Real, NumLanes>;
  static constexpr int num_groups = NumGroups;
};

/// Links on emulated lanes, compares with brute force and with the vector groups.
template <class Case>
void check_links(const Cloud<typename Case::Real>& cloud, int leaf_size, int walk_plane) {
  using Real = typename Case::Real;
  using Group = typename Case::Group;
  INFO("leaf size " << leaf_size << ", walks from plane " << walk_plane);
  const SmallTree<Real> small(cloud, leaf_size);
  if (walk_plane >= small.tree().num_planes) return;
  Buffer<LocalIndex> parent;
  Buffer<std::uint8_t> connected;
  const auto fof = small.fof(parent, connected, walk_plane);
  for_each_emulated<Group>(Case::num_groups, fof.tree.plane_size[0], kernels::emulated::LinkInside<Group>{{fof}});

  Buffer<LocalIndex> simd_parent;
  Buffer<std::uint8_t> simd_connected;
  const auto simd_fof = small.fof(simd_parent, simd_connected, walk_plane);
  kernels::link_inside(small.exec(), simd_fof);
  for (Index slot = 0; slot < connected.size(); ++slot) CHECK(connected.span()[slot] == simd_connected.span()[slot]);
  CHECK(small.labels(fof.sets) == small.labels(simd_fof.sets));

  for_each_emulated<Group>(Case::num_groups, fof.tree.plane_size[walk_plane], kernels::emulated::LinkBetween<Group>{{fof}});
  CHECK(small.labels(fof.sets) == brute_force_groups(cloud));
}

template <class Group>
void check_boxes(const Cloud<typename Group::real>& cloud, int leaf_size) {
  using Real = typename Group::real;
  const SmallTree<Real> small(cloud, leaf_size);
  kernels::TreeView<Real> tree = small.tree();
  const int top = tree.num_planes - 1;
  const Index num_nodes = tree.plane_first[top] + tree.plane_size[top];
  std::vector<std::vector<Real>> room(6, std::vector<Real>(static_cast<std::size_t>(num_nodes), -1));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    tree.boxes.lo[axis] = room[2 * axis].data();
    tree.boxes.hi[axis] = room[2 * axis + 1].data();
  }
  for_each_emulated<Group>(1, tree.plane_size[0], kernels::emulated::LeafBox<Group>{tree});
  for (int plane = 1; plane < tree.num_planes; ++plane) {
    for_each_emulated<Group>(1, tree.plane_size[plane], kernels::emulated::NodeBox<Group>{tree, plane});
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

TEMPLATE_TEST_CASE("boxes on emulated lanes equal those of the vector groups", "[lanes]", (EmulatedGroup<float, 1>),
                   (EmulatedGroup<float, 4>), (EmulatedGroup<double, 4>), (EmulatedGroup<float, 32>)) {
  using Real = typename TestType::real;
  check_boxes<TestType>(uniform_cloud<Real>(300, Box::periodic_cube(1), 0.1, 1), 3);
  check_boxes<TestType>(uniform_cloud<Real>(100, open_square(), 0.1, 2), 40);
}

TEMPLATE_TEST_CASE("links on emulated lanes are those of brute force", "[lanes]", (Case<float, 1>), (Case<float, 4>),
                   (Case<double, 4>), (Case<float, 4, 3>), (Case<float, 32>), (Case<double, 32>)) {
  using Real = typename TestType::Real;
  const Box periodic = Box::periodic_cube(1);
  SECTION("uniform, periodic") { check_links<TestType>(uniform_cloud<Real>(220, periodic, 0.13, 3), 12, 0); }
  SECTION("uniform, open") { check_links<TestType>(uniform_cloud<Real>(220, Box::unbounded(), 0.13, 4), 12, 1); }
  SECTION("knots over the edges") { check_links<TestType>(knotted_cloud<Real>(200, periodic, 0.05, 0.06), 16, 1); }
  SECTION("two dimensions") { check_links<TestType>(uniform_cloud<Real>(200, Box::periodic_cube(1, 2), 0.05, 5), 8, 0); }
  SECTION("a lattice exactly the linking length apart") { check_links<TestType>(lattice_cloud<Real>(5, 0.25), 20, 0); }
  SECTION("a linking length of half the box") { check_links<TestType>(uniform_cloud<Real>(60, periodic, 0.5, 6), 4, 0); }
}

TEMPLATE_TEST_CASE("links on emulated lanes: clumps of any size, and next to no particles", "[lanes]", (Case<float, 4>),
                   (Case<double, 32>)) {
  using Real = typename TestType::Real;
  const Box periodic = Box::periodic_cube(1);
  Cloud<Real> clumps{{}, periodic, 0.1};  // three places, two of them friends across an edge
  for (int i = 0; i < 210; ++i) {
    for (const double x : {i % 3 == 0 ? 0.97 : (i % 3 == 1 ? 0.03 : 0.5), 0.5, 0.5}) clumps.pos.push_back(static_cast<Real>(x));
  }
  check_links<TestType>(clumps, 8, 0);
  for (const Index num : {0, 1, 2}) check_links<TestType>(uniform_cloud<Real>(num, periodic, 0.4, 8), 32, 0);
}

}  // namespace zhalo::testing
