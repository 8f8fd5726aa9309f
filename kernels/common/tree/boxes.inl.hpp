// Tight boxes of leaves and of levels, for any Lanes. No include guard: compiled once for each
// kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Boxes of the particles of `together` leaves. Where lanes are threads they are written together:
/// single numbers would take as much of the memory's time as eight that lie side by side.
template <class Lanes>
struct LeafBox {
  using Real = typename Lanes::real;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  static constexpr int together = Lanes::keeps_elements ? 8 : 1;  ///< divides the fanout
  TreeView<Real> tree;

  struct Scratch {
    LocalIndex begin[std::size_t{together}];
    LocalIndex end[std::size_t{together}];
    Real lo[3][std::size_t{together}];
    Real hi[3][std::size_t{together}];
  };

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    const Index first = item * together;
    lanes.for_each_lane(together, [&](Index i) {
      s.begin[i] = tree.leaf_begin[first + i];
      s.end[i] = tree.leaf_end[first + i];
    });
    lanes.sync();
    for (int leaf = 0; leaf < together; ++leaf) find_box(lanes, leaf, s);
    lanes.sync();
    for (int axis = 0; axis < 3; ++axis) {
      lanes.for_each_lane(together, [&](Index i) {
        tree.boxes.lo[axis][first + i] = s.lo[axis][i];
        tree.boxes.hi[axis][first + i] = s.hi[axis][i];
      });
    }
  }

 private:
  ZHALO_HD void find_box(const Lanes& lanes, int leaf, Scratch& s) const {
    const Index begin = s.begin[leaf];
    const Index num = s.end[leaf] - begin;
    for (int axis = 0; axis < 3; ++axis) {
      const Real* x = tree.pos.axis[axis] + begin;
      auto lo = lanes.broadcast(infinity);
      auto hi = lanes.broadcast(-infinity);
      for (Index i = 0; i < num; i += Lanes::size) {
        const auto at = lanes.load_or(x + i, num - i, infinity);
        lo = Lanes::min(lo, at);
        hi = Lanes::max(hi, lanes.select(first_bits(num - i), at, lanes.broadcast(-infinity)));
      }
      const Real smallest = lanes.reduce_min(lo);
      const Real largest = lanes.reduce_max(hi);
      lanes.one([&] {
        s.lo[axis][leaf] = smallest;
        s.hi[axis][leaf] = largest;
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
  using Boxes = LeafBox<LanesOf<Real>>;
  for_each_with_lanes(exec, tree.level_size[0] / Boxes::together, Boxes{tree}, LanesOf<Real>{});
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
