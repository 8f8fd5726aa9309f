// Tight boxes of leaves and of levels, for any Lanes. No include guard: compiled once for each
// kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Box of one leaf's particles.
template <class Lanes>
struct LeafBox {
  using Real = typename Lanes::real;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  TreeView<Real> tree;

  struct Scratch {};

  ZHALO_HD void operator()(const Lanes& lanes, Index leaf, Scratch&) const {
    const Index begin = tree.leaf_begin[leaf];
    const Index num = tree.leaf_end[leaf] - begin;
    for (int axis = 0; axis < 3; ++axis) {
      const Real* x = tree.pos.axis[axis] + begin;
      auto lo = lanes.broadcast(infinity);
      auto hi = lanes.broadcast(-infinity);
      for (Index i = 0; i < num; i += Lanes::size) {
        lo = Lanes::min(lo, lanes.load_or(x + i, num - i, infinity));
        hi = Lanes::max(hi, lanes.load_or(x + i, num - i, -infinity));
      }
      const Real smallest = lanes.reduce_min(lo);
      const Real largest = lanes.reduce_max(hi);
      lanes.one([&] {
        tree.boxes.lo[axis][leaf] = smallest;
        tree.boxes.hi[axis][leaf] = largest;
      });
    }
  }
};

/// Box of one node from its children's boxes.
template <class Lanes>
struct NodeBox {
  using Real = typename Lanes::real;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  TreeView<Real> tree;
  int level = 0;

  struct Scratch {};

  ZHALO_HD void operator()(const Lanes& lanes, Index node, Scratch&) const {
    const Index first = node * tree.fanout;
    const Index below = tree.level_size[level - 1];
    const Index num =
        first >= below ? 0 : (below - first < tree.fanout ? below - first : Index{tree.fanout});
    for (int axis = 0; axis < 3; ++axis) {
      auto lo = lanes.broadcast(infinity);
      auto hi = lanes.broadcast(-infinity);
      const Index child = tree.level_first[level - 1] + first;
      for (Index i = 0; i < num; i += Lanes::size) {
        lo = Lanes::min(lo, lanes.load_or(tree.boxes.lo[axis] + child + i, num - i, infinity));
        hi = Lanes::max(hi, lanes.load_or(tree.boxes.hi[axis] + child + i, num - i, -infinity));
      }
      const Real smallest = lanes.reduce_min(lo);
      const Real largest = lanes.reduce_max(hi);
      lanes.one([&] {
        tree.boxes.lo[axis][tree.level_first[level] + node] = smallest;
        tree.boxes.hi[axis][tree.level_first[level] + node] = largest;
      });
    }
  }
};

template <class E, class Real>
void leaf_boxes(const E& exec, const TreeView<Real>& tree) {
  for_each_with_lanes(exec, tree.level_size[0], LeafBox<LanesOf<Real>>{tree}, LanesOf<Real>{});
}

template <class E, class Real>
void level_boxes(const E& exec, const TreeView<Real>& tree, int level) {
  for_each_with_lanes(exec, tree.level_size[level], NodeBox<LanesOf<Real>>{tree, level},
                      LanesOf<Real>{});
}

ZHALO_INSTANTIATE_LANES(leaf_boxes);
ZHALO_INSTANTIATE_LANES(level_boxes);

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
