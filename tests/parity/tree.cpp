// Cells and trees on every Exec, against their definitions.
#include "src/tree/tree.hpp"

#include <algorithm>
#include <limits>

#include "tests/parity/uploaded.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {
namespace {

/// The cells of keys [begin, end), which share `depth` leading bits: the definition, recursively.
class CellList {
 public:
  CellList(const std::vector<std::uint64_t>& keys, const kernels::CellCut& cut)
      : keys_(keys), cut_(cut) {
    cut_cell(0, static_cast<Index>(keys.size()), 0);
  }
  const std::vector<LocalIndex>& starts() const { return starts_; }

 private:
  void cut_cell(Index begin, Index end, int depth) {
    if (begin == end) return;
    if (end - begin <= cut_.max_size || (depth == cut_.bits && cut_.equal_keys_stay)) {
      starts_.push_back(static_cast<LocalIndex>(begin));
    } else if (depth == cut_.bits) {
      for (Index i = begin; i < end; i += cut_.max_size)
        starts_.push_back(static_cast<LocalIndex>(i));
    } else {
      const int shift = cut_.bits - depth - 1;
      const auto is_low = [&](std::uint64_t key) { return (key >> shift & 1) == 0; };
      const auto middle =
          std::partition_point(keys_.begin() + begin, keys_.begin() + end, is_low) - keys_.begin();
      cut_cell(begin, middle, depth + 1);
      cut_cell(middle, end, depth + 1);
    }
  }

  const std::vector<std::uint64_t>& keys_;
  kernels::CellCut cut_;
  std::vector<LocalIndex> starts_;
};

/// Half of the keys share a few values.
std::vector<std::uint64_t> sorted_keys(Index num, int bits) {
  Random random(static_cast<std::uint64_t>(num + bits));
  std::vector<std::uint64_t> keys;
  for (Index i = 0; i < num; ++i) {
    const std::uint64_t mask = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    keys.push_back((random.one_in(2) ? random.bits() : random.bits() % 5 * 0x123456789abcdef) &
                   mask);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Pairs of cells of which one has one key and the other all the rest, as deep as keys go: there
/// are half as many cells as keys.
std::vector<std::uint64_t> combs(std::uint64_t num_combs, int bits) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t comb = 0; comb < num_combs; ++comb) {
    const std::uint64_t first = comb << bits;
    keys.insert(keys.end(), 33, first);
    for (int bit = 0; bit < bits; ++bit) keys.push_back(first | std::uint64_t{1} << bit);
  }
  return keys;
}

constexpr int fanout = 16;

/// Leaves, and nodes of leaves.
void check_cells(const Exec& exec, const std::vector<std::uint64_t>& keys, int bits,
                 Index max_size) {
  const Buffer<std::uint64_t> uploaded = upload(exec, keys);
  for (const bool stay : {false, true}) {
    const kernels::CellCut cut{uploaded.span(), bits, max_size, stay};
    const kernels::TreeCells cells =
        on(exec, [&](const auto& e) { return kernels::cut_tree(e, cut, fanout); });
    INFO(keys.size() << " keys of " << bits << " bits, at most " << max_size
                     << ", equal keys stay: " << stay);
    const std::vector<LocalIndex> leaves = CellList(keys, cut).starts();
    CHECK(to_host(exec, cells.leaves) == leaves);
    std::vector<std::uint64_t> leaf_keys;
    for (const LocalIndex leaf : leaves) leaf_keys.push_back(keys[leaf]);
    CHECK(to_host(exec, cells.nodes) == CellList(leaf_keys, {{}, bits, fanout, false}).starts());
  }
}

/// A TreeView whose arrays are on the host.
template <class Real>
struct TreeOnHost {
  TreeOnHost(const Exec& exec, const kernels::TreeView<Real>& tree) : view(tree) {
    const int top = tree.num_levels - 1;
    const Index num_nodes = tree.level_first[top] + tree.level_size[top];
    begin = download(exec, tree.leaf_begin, tree.level_size[0]);
    end = download(exec, tree.leaf_end, tree.level_size[0]);
    for (int axis = 0; axis < 3; ++axis) {
      pos[axis] = download(exec, tree.pos.axis[axis], tree.pos.num);
      lo[axis] = download(exec, tree.boxes.lo[axis], num_nodes);
      hi[axis] = download(exec, tree.boxes.hi[axis], num_nodes);
    }
  }

  /// The tight box of values [first, last) is the box of a node.
  bool is_box(int axis, Index node, const Real* first, const Real* last, const Real* upper) const {
    Real smallest = std::numeric_limits<Real>::infinity();
    Real largest = -smallest;
    for (; first != last; ++first, ++upper) {
      smallest = std::min(smallest, *first);
      largest = std::max(largest, *upper);
    }
    const auto at = static_cast<std::size_t>(node);
    return lo[axis][at] == smallest && hi[axis][at] == largest;
  }

  kernels::TreeView<Real> view;
  std::vector<LocalIndex> begin;
  std::vector<LocalIndex> end;
  std::vector<Real> pos[3];
  std::vector<Real> lo[3];
  std::vector<Real> hi[3];
};

/// The leaves follow one another and hold all particles; none is larger than allowed; their boxes
/// are tight.
template <class Real>
void check_leaves(const TreeOnHost<Real>& tree, Index leaf_size) {
  Index next = 0;
  bool in_order = true;
  bool small_enough = true;
  bool tight = true;
  for (std::size_t leaf = 0; leaf < tree.begin.size(); ++leaf) {
    const Index begin = tree.begin[leaf];
    const Index end = tree.end[leaf];
    if (begin != end) {
      in_order = in_order && begin == next;
      next = end;
      small_enough = small_enough && end - begin <= leaf_size;
    }
    for (int axis = 0; axis < 3; ++axis) {
      const Real* x = tree.pos[axis].data();
      tight = tight && tree.is_box(axis, static_cast<Index>(leaf), x + begin, x + end, x + begin);
    }
  }
  CHECK(in_order);
  CHECK(next == tree.view.pos.num);
  CHECK(small_enough);
  CHECK(tight);
}

/// Each node's box is that of its children, and the top level is one node's worth.
template <class Real>
void check_levels(const TreeOnHost<Real>& tree) {
  const kernels::TreeView<Real>& view = tree.view;
  CHECK(view.level_size[view.num_levels - 1] <= view.fanout);
  bool tight = true;
  for (int level = 1; level < view.num_levels; ++level) {
    CHECK(view.level_size[level] * view.fanout >= view.level_size[level - 1]);
    for (Index node = 0; node < view.level_size[level]; ++node) {
      const Index first = std::min(node * view.fanout, view.level_size[level - 1]);
      const Index last = std::min(first + view.fanout, view.level_size[level - 1]);
      const Index below = view.level_first[level - 1];
      for (int axis = 0; axis < 3; ++axis) {
        const Real* lo = tree.lo[axis].data() + below;
        const Real* hi = tree.hi[axis].data() + below;
        tight = tight && tree.is_box(axis, view.level_first[level] + node, lo + first, lo + last,
                                     hi + first);
      }
    }
  }
  CHECK(tight);
}

template <class Real>
void check_tree(const Exec& exec, Index num, int dimensions, int leaf_size) {
  INFO(num << " particles, leaf size " << leaf_size);
  Random random(static_cast<std::uint64_t>(num));
  Columns<Real> columns;
  columns.dimensions = dimensions;
  for (Index i = 0; i < num * dimensions; ++i) {
    columns.pos.push_back(
        static_cast<Real>(i % 3 == 0 ? random.uniform() : 0.3 + 0.001 * random.uniform()));
  }
  const Uploaded<Real> uploaded(exec, columns);
  Context context;
  context.exec = exec;
  const SegmentTable<Real> input(exec, uploaded.particles());
  const Box box = Box::periodic_cube(1, dimensions);
  const Extent extent = examine_positions(context, input.view(), box);
  const KeyFrameChoice choice = choose_key_frame(box, extent, 1e-9, 1);
  auto sorted = sort_particles(context, input.view(), choice.frame);
  const Tree<Real> tree(context, sorted, {leaf_size, false});
  const TreeOnHost<Real> on_host(exec, tree.view());
  check_leaves(on_host, leaf_size);
  check_levels(on_host);
}

}  // namespace

TEMPLATE_TEST_CASE("cells are those of the recursive definition", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : {0, 1, 2, 255, 257, 5000}) {
    for (const int bits : {0, 1, 6, 63}) {
      for (const Index max_size : {1, 3, 32})
        check_cells(*exec, sorted_keys(num, bits), bits, max_size);
    }
  }
}

TEMPLATE_TEST_CASE("cells of many keys", "[parity]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : {16384, 16385, 100001}) check_cells(*exec, sorted_keys(num, 42), 42, 32);
  // So many cells that a device cuts their nodes twice.
  check_cells(*exec, combs(300, 32), 42, 32);
}

TEMPLATE_TEST_CASE("trees hold all particles in tight boxes", "[parity][small]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num : {0, 1, 33, 5000}) {
    check_tree<float>(*exec, num, 3, 32);
    check_tree<double>(*exec, num, 2, 8);
  }
}

TEMPLATE_TEST_CASE("trees of many particles", "[parity]", ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  check_tree<float>(*exec, 100000, 3, 24);
  check_tree<double>(*exec, 30000, 3, 1);
}

}  // namespace zhalo::testing
