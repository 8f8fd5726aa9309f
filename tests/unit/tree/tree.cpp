/// The levels of a tree: what they must be, checked node by node.
#include "src/tree/tree.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "kernels/common/tree/leaves.hpp"
#include "tests/support/point_sets.hpp"
#include "tests/support/run_fof.hpp"
#include "tests/unit/tree/shared_bits.hpp"
#include "zhalo/ics/points.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// A range of sorted elements.
struct Range {
  Index begin = 0;
  Index end = 0;
};

/// Checks that ranges of sorted keys are the largest Morton cells with at most `max_size` elements.
void check_cells(const std::vector<std::uint64_t>& keys, int bits, const std::vector<Range>& cells,
                 Index max_size, bool equal_keys_stay) {
  const auto at = [&](Index i) { return keys[static_cast<std::size_t>(i)]; };
  const Index num = static_cast<Index>(keys.size());
  Index next = 0;
  for (const Range& cell : cells) {
    CAPTURE(cell.begin, cell.end, max_size, bits);
    REQUIRE(cell.begin == next);
    REQUIRE(cell.end > cell.begin);
    next = cell.end;
    const int before = cell.begin > 0 ? shared_bits(at(cell.begin - 1), at(cell.begin), bits) : -1;
    const int after = cell.end < num ? shared_bits(at(cell.end - 1), at(cell.end), bits) : -1;
    const int inside = shared_bits(at(cell.begin), at(cell.end - 1), bits);
    const int depth =
        std::max(before, after) + 1;  // of the largest cell that excludes both neighbours
    if (depth > bits) {
      // Part of a run of equal keys that no cell can divide.
      REQUIRE_FALSE(equal_keys_stay);
      REQUIRE(inside == bits);
      REQUIRE(cell.end - cell.begin <= max_size);
      if (after == bits) REQUIRE(cell.end - cell.begin == max_size);
      continue;
    }
    REQUIRE(inside >= depth);
    if (!(equal_keys_stay && inside == bits)) REQUIRE(cell.end - cell.begin <= max_size);
    if (depth == 0) continue;
    Index parent = 0;
    for (Index i = 0; i < num; ++i)
      parent += shared_bits(at(i), at(cell.begin), bits) >= depth - 1 ? 1 : 0;
    REQUIRE(parent > max_size);
  }
  REQUIRE(next == num);
}

template <class Real>
struct Built {
  Context context;
  LaidOut<Real> laid_out;
  SegmentTable<Real> input;
  SortedColumns<Real> particles;
  Tree<Real> tree;

  Built(const PointSet<Real>& point_set, double cell, const TreeOptions& options,
        const Run& run = {})
      : context{{}, host_exec(run.threads), nullptr},
        laid_out(point_set, run.layout),
        input(context.exec, laid_out.particles()),
        particles(sorted(point_set, cell)),
        tree(context, particles, options) {}

 private:
  SortedColumns<Real> sorted(const PointSet<Real>& point_set, double cell) {
    const Extent extent = examine_positions(context, input.view(), point_set.box);
    return sort_particles(context, input.view(),
                          choose_key_frame(point_set.box, extent, cell, 1).frame);
  }
};

template <class Real>
Range leaf_of(const kernels::TreeView<Real>& tree, Index index) {
  return {tree.leaf_begin[index], tree.leaf_end[index]};
}

/// Leaves in order; each node of level 1 has its leaves first, and empty ones behind them.
template <class Real>
void check_leaves(const Built<Real>& built, const TreeOptions& options) {
  const kernels::TreeView<Real>& tree = built.tree.view();
  const std::vector<std::uint64_t> keys = to_host(built.context.exec, built.particles.keys);
  const int bits = built.particles.frame.key_bits();
  REQUIRE(tree.level_size[0] % tree.fanout == 0);
  std::vector<Range> leaves;
  std::vector<Range> nodes;
  std::vector<std::uint64_t> leaf_keys;
  for (Index node = 0; node < tree.level_size[0] / tree.fanout; ++node) {
    const Index first_leaf = static_cast<Index>(leaves.size());
    bool ended = false;
    for (Index index = node * tree.fanout; index < (node + 1) * tree.fanout; ++index) {
      const Range leaf = leaf_of(tree, index);
      ended = ended || leaf.begin == leaf.end;
      if (ended) REQUIRE(leaf.begin == leaf.end);
      if (ended) continue;
      leaves.push_back(leaf);
      leaf_keys.push_back(keys[static_cast<std::size_t>(leaf.begin)]);
    }
    nodes.push_back({first_leaf, static_cast<Index>(leaves.size())});
  }
  check_cells(keys, bits, leaves, options.leaf_size, options.equal_keys_stay);
  check_cells(leaf_keys, bits, nodes, tree.fanout, false);
}

template <class Real>
void check_leaf_box(const kernels::TreeView<Real>& tree, Index index) {
  const Range leaf = leaf_of(tree, index);
  for (int axis = 0; axis < 3; ++axis) {
    Real lo = std::numeric_limits<Real>::infinity();
    Real hi = -lo;
    for (Index i = leaf.begin; i < leaf.end; ++i) {
      lo = std::min(lo, tree.pos.axis[axis][i]);
      hi = std::max(hi, tree.pos.axis[axis][i]);
    }
    REQUIRE(tree.boxes.lo[axis][index] == lo);
    REQUIRE(tree.boxes.hi[axis][index] == hi);
  }
}

/// The box of a node is exactly that of its children; of none, an empty one.
template <class Real>
void check_node_box(const kernels::TreeView<Real>& tree, int level, Index node) {
  const Index first = node * tree.fanout;
  const Index last = std::min(first + tree.fanout, tree.level_size[level - 1]);
  for (int axis = 0; axis < 3; ++axis) {
    Real lo = std::numeric_limits<Real>::infinity();
    Real hi = -lo;
    for (Index child = tree.level_first[level - 1] + first;
         child < tree.level_first[level - 1] + last; ++child) {
      lo = std::min(lo, tree.boxes.lo[axis][child]);
      hi = std::max(hi, tree.boxes.hi[axis][child]);
    }
    REQUIRE(tree.boxes.lo[axis][tree.level_first[level] + node] == lo);
    REQUIRE(tree.boxes.hi[axis][tree.level_first[level] + node] == hi);
  }
}

template <class Real>
void check_levels(const kernels::TreeView<Real>& tree) {
  REQUIRE(tree.num_levels >= 1);
  REQUIRE(tree.num_levels <= kernels::TreeView<Real>::max_levels);
  REQUIRE(tree.level_first[0] == 0);
  REQUIRE(tree.level_size[tree.num_levels - 1] <= tree.fanout);
  for (int level = 1; level < tree.num_levels; ++level) {
    REQUIRE(tree.level_first[level] == tree.level_first[level - 1] + tree.level_size[level - 1]);
    REQUIRE(tree.level_size[level] % tree.fanout == 0);
    REQUIRE(tree.level_size[level] * tree.fanout >= tree.level_size[level - 1]);
    REQUIRE((tree.level_size[level] - tree.fanout) * tree.fanout < tree.level_size[level - 1]);
    for (Index node = 0; node < tree.level_size[level]; ++node) check_node_box(tree, level, node);
  }
  for (Index index = 0; index < tree.level_size[0]; ++index) check_leaf_box(tree, index);
}

template <class Real>
void check_tree(const PointSet<Real>& point_set, double cell, const TreeOptions& options,
                const Run& run = {}) {
  const Built<Real> built(point_set, cell, options, run);
  check_leaves(built, options);
  check_levels(built.tree.view());
}

/// Coarse boxes, in their order, are the tight boxes of particles that follow each other, all of
/// them and each once.
template <class Real>
void check_coarse_boxes(const kernels::TreeView<Real>& tree, const CoarseBoxes& boxes) {
  REQUIRE(boxes.num <= kernels::max_coarse_boxes);
  Index next = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(boxes.num); ++i) {
    REQUIRE(boxes.count[i] > 0);
    REQUIRE(next + boxes.count[i] <= tree.pos.num);
    for (int axis = 0; axis < 3; ++axis) {
      const Real* const first = tree.pos.axis[axis] + next;
      const auto [lo, hi] = std::minmax_element(first, first + boxes.count[i]);
      REQUIRE(boxes.box[i].lo[axis] == static_cast<double>(*lo));
      REQUIRE(boxes.box[i].hi[axis] == static_cast<double>(*hi));
    }
    next += boxes.count[i];
  }
  REQUIRE(next == tree.pos.num);
}

/// Unit cubes that begin at these positions of the x axis; so many particles are in each.
CoarseBoxes cubes_at(const std::vector<double>& positions, const std::vector<Index>& counts) {
  CoarseBoxes boxes;
  for (const double x : positions) {
    const auto i = static_cast<std::size_t>(boxes.num++);
    boxes.box[i] = {{{x, 0, 0}}, {{x + 1, 1, 1}}};
    boxes.count[i] = counts[i];
  }
  return boxes;
}

}  // namespace

TEMPLATE_TEST_CASE("trees over random point sets", "", float, double) {
  for (std::uint64_t seed = 0; seed < (ZHALO_CHECKED ? 150 : 600); ++seed) {
    CAPTURE(seed, sizeof(TestType));
    Random random(seed);
    const PointSet<TestType> point_set = random_points<TestType>(random);
    const TreeOptions options{random.pick({1, 2, 7, 16, 32, 64}), random.one_in(2)};
    const double cell = point_set.linking_length * random.pick({1.0, 0.1, 10.0});
    check_tree(point_set, cell, options, {32, 1 + static_cast<int>(seed % 2), Layout::rows});
  }
}

TEST_CASE("where a cell starts is seen from any element as from the first one on") {
  for (std::uint64_t seed = 0; seed < (ZHALO_CHECKED ? 200 : 2000); ++seed) {
    Random random(seed);
    const int bits = static_cast<int>(1 + random.below(12));
    std::vector<std::uint64_t> keys(static_cast<std::size_t>(1 + random.below(200)));
    for (std::uint64_t& key : keys)
      key = random.bits() >> (64 - bits) >> (random.one_in(3) ? bits / 2 : 0);
    std::sort(keys.begin(), keys.end());
    const Index max_size = 1 + random.below(9);
    const kernels::CellCutter cutter{{keys, bits, max_size, random.one_in(2)}};
    std::vector<Range> cells;
    for (Index at = 0; at < cutter.keys.size(); at = cells.back().end)
      cells.push_back({at, cutter.end_of_cell(at)});
    CAPTURE(seed, bits, max_size, cutter.equal_keys_stay);
    check_cells(keys, bits, cells, max_size, cutter.equal_keys_stay);
    std::size_t next = 0;
    for (Index i = 0; i < cutter.keys.size(); ++i) {
      const bool starts = next < cells.size() && cells[next].begin == i;
      REQUIRE(cutter.starts_cell(i) == starts);
      next += starts ? 1 : 0;
    }
  }
}

TEST_CASE("trees over many particles, whose cells are cut in several chunks at once") {
  const points::Kind kind = GENERATE(points::Kind::uniform, points::Kind::dense);
  const auto [leaf_size, cell] = GENERATE(table<int, double>({{32, 1e-4}, {1, 1e-3}, {8, 0.1}}));
  const bool equal_keys_stay = GENERATE(false, true);
  const int threads = GENERATE(1, 3);
  const PointSet<float> point_set{points::make_points(kind, 40'000).pos, Box::periodic_cube(1),
                                  0.1};
  const Built<float> built(point_set, cell, {leaf_size, equal_keys_stay},
                           {32, threads, Layout::rows});
  check_levels(built.tree.view());
  // Leaf by leaf the definition is slow: the leaves are those of any other number of chunks, and of
  // few particles (above).
  const std::vector<std::uint64_t> keys = to_host(built.context.exec, built.particles.keys);
  const int bits = built.particles.frame.key_bits();
  Index next = 0;
  for (Index index = 0; index < built.tree.view().level_size[0]; ++index) {
    const Range leaf = leaf_of(built.tree.view(), index);
    if (leaf.begin == leaf.end) continue;
    REQUIRE(leaf.begin == next);
    next = leaf.end;
    const bool equal =
        keys[static_cast<std::size_t>(leaf.begin)] == keys[static_cast<std::size_t>(leaf.end - 1)];
    if (!(equal_keys_stay && equal)) REQUIRE(leaf.end - leaf.begin <= leaf_size);
    // Its parent cell holds more than a leaf: the elements up to leaf_size further on either side
    // are all that may be in it.
    const std::uint64_t key = keys[static_cast<std::size_t>(leaf.begin)];
    const int before = leaf.begin > 0
                           ? shared_bits(keys[static_cast<std::size_t>(leaf.begin - 1)], key, bits)
                           : -1;
    const int after = leaf.end < point_set.num()
                          ? shared_bits(key, keys[static_cast<std::size_t>(leaf.end)], bits)
                          : -1;
    const int depth = std::max(before, after);
    if (depth < 0 || depth == bits) continue;
    Index parent = 0;
    for (Index i = std::max<Index>(0, leaf.begin - leaf_size);
         i < std::min(point_set.num(), leaf.end + leaf_size); ++i) {
      parent += shared_bits(keys[static_cast<std::size_t>(i)], key, bits) >= depth ? 1 : 0;
    }
    REQUIRE(parent > leaf_size);
  }
  REQUIRE(next == point_set.num());
}

TEST_CASE("trees of one position: a single leaf of any size, or runs of leaf_size") {
  const PointSet<float> point_set{std::vector<float>(3 * 50'000, 0.5F), Box::unbounded(), 0.1};
  const Built<float> whole(point_set, 0.1, {32, true});
  CHECK(leaf_of(whole.tree.view(), 0).end == 50'000);
  CHECK(whole.tree.view().num_levels == 1);
  const Built<float> cut(point_set, 0.1, {32, false});
  check_levels(cut.tree.view());
  Index leaves = 0;
  for (Index index = 0; index < cut.tree.view().level_size[0]; ++index) {
    const Range leaf = leaf_of(cut.tree.view(), index);
    if (leaf.end == leaf.begin) continue;
    REQUIRE(leaf.begin == 32 * leaves);
    REQUIRE(leaf.end == std::min<Index>(50'000, 32 * leaves + 32));
    ++leaves;
  }
  CHECK(leaves == 1563);
}

TEST_CASE("trees of no particles have no leaf") {
  const PointSet<double> point_set{{}, Box::periodic_cube(1), 0.1};
  const Built<double> built(point_set, 0.1, {32, true});
  CHECK(built.tree.view().level_size[0] == 0);
  CHECK(built.tree.view().num_levels == 1);
}

TEST_CASE("coarse boxes hold all particles: each is the tight box of as many as it counts") {
  const points::Kind kind =
      GENERATE(points::Kind::uniform, points::Kind::clustered, points::Kind::dense);
  const Index num = GENERATE(1, 33, 700, 40'000);
  const auto [leaf_size, cell] = GENERATE(table<int, double>({{32, 1e-4}, {1, 1e-3}, {8, 0.1}}));
  const PointSet<float> point_set{points::make_points(kind, num).pos, Box::periodic_cube(1), 0.1};
  const Built<float> built(point_set, cell, {leaf_size, true});
  const CoarseBoxes boxes = coarse_boxes(built.context.exec, built.tree.view());
  CAPTURE(num, leaf_size, boxes.num);
  CHECK(boxes.num > 0);
  check_coarse_boxes(built.tree.view(), boxes);
}

TEST_CASE("coarse boxes within reach of others are those at most so far, with their counts") {
  const double inf = std::numeric_limits<double>::infinity();
  const CoarseBoxes boxes = cubes_at({0, 2, 5}, {3, 4, 7});
  const auto near = [&](double period, double reach2) {
    const CoarseBoxes found = boxes.near(cubes_at({7}, {1}), {{period, period, period}, reach2});
    return std::vector<Index>(found.count.begin(), found.count.begin() + found.num);
  };
  CHECK(near(inf, 0.99).empty());
  CHECK(near(inf, 1) == std::vector<Index>{7});
  CHECK(near(inf, 16) == std::vector<Index>{4, 7});
  CHECK(near(8.5, 0.24).empty());
  CHECK(near(8.5, 0.25) == std::vector<Index>{3});
  CHECK(near(8.5, 1) == std::vector<Index>{3, 7});
  CHECK(boxes.near(CoarseBoxes{}, {{inf, inf, inf}, 100}).num == 0);
}
