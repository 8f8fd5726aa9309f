// Tight boxes of leaves and of planes, for any Group. No include guard: compiled once per GROUP_TARGET.

ZHALO_GROUP_BEGIN
namespace zhalo::kernels::ZHALO_GROUP_TARGET {

/// Box of one leaf slot's particles.
template <class Group>
struct LeafBox {
  using Real = typename Group::real;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  TreeView<Real> tree;

  struct Scratch {};

  ZHALO_HD void operator()(const Group& g, Index slot, Scratch&) const {
    const Index begin = tree.leaf_begin[slot];
    const Index num = tree.leaf_end[slot] - begin;
    for (int axis = 0; axis < 3; ++axis) {
      const Real* x = tree.pos.axis[axis] + begin;
      auto lo = g.broadcast(infinity);
      auto hi = g.broadcast(-infinity);
      for (Index i = 0; i < num; i += Group::size) {
        lo = Group::min(lo, g.load_or(x + i, num - i, infinity));
        hi = Group::max(hi, g.load_or(x + i, num - i, -infinity));
      }
      const Real smallest = g.reduce_min(lo);
      const Real largest = g.reduce_max(hi);
      g.one([&] {
        tree.boxes.lo[axis][slot] = smallest;
        tree.boxes.hi[axis][slot] = largest;
      });
    }
  }
};

/// Box of one node from its children's boxes.
template <class Group>
struct NodeBox {
  using Real = typename Group::real;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  TreeView<Real> tree;
  int plane = 0;

  struct Scratch {};

  ZHALO_HD void operator()(const Group& g, Index node, Scratch&) const {
    const Index first = node * tree.fanout;
    const Index below = tree.plane_size[plane - 1];
    const Index num = first >= below ? 0 : (below - first < tree.fanout ? below - first : Index{tree.fanout});
    for (int axis = 0; axis < 3; ++axis) {
      auto lo = g.broadcast(infinity);
      auto hi = g.broadcast(-infinity);
      const Index child = tree.plane_first[plane - 1] + first;
      for (Index i = 0; i < num; i += Group::size) {
        lo = Group::min(lo, g.load_or(tree.boxes.lo[axis] + child + i, num - i, infinity));
        hi = Group::max(hi, g.load_or(tree.boxes.hi[axis] + child + i, num - i, -infinity));
      }
      const Real smallest = g.reduce_min(lo);
      const Real largest = g.reduce_max(hi);
      g.one([&] {
        tree.boxes.lo[axis][tree.plane_first[plane] + node] = smallest;
        tree.boxes.hi[axis][tree.plane_first[plane] + node] = largest;
      });
    }
  }
};

}  // namespace zhalo::kernels::ZHALO_GROUP_TARGET
ZHALO_GROUP_END
