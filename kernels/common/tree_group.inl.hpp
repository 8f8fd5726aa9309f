// Distances between lanes and boxes of a tree, for any Group. No include guard: compiled once per GROUP_TARGET.

ZHALO_GROUP_BEGIN
namespace zhalo::kernels::ZHALO_GROUP_TARGET {

/// Distances where no image is nearer.
template <class Group>
struct OpenSpace {
  using Lane = typename Group::Lane;
  static constexpr bool periodic = false;

  ZHALO_HD Lane difference(int, Lane a, Lane b) const { return Group::abs(a - b); }
  /// Distance between the intervals [alo, ahi] and [blo, bhi]; negative where they overlap.
  ZHALO_HD Lane gap(int, Lane alo, Lane ahi, Lane blo, Lane bhi) const { return Group::max(blo - ahi, alo - bhi); }
};

/// Distances to the nearest periodic image. An axis without periodicity has an infinite period.
template <class Group>
struct PeriodicSpace {
  using Lane = typename Group::Lane;
  static constexpr bool periodic = true;

  ZHALO_HD PeriodicSpace(const Group& g, const typename Group::real (&length)[3])
      : period{g.broadcast(length[0]), g.broadcast(length[1]), g.broadcast(length[2])} {}

  ZHALO_HD Lane difference(int axis, Lane a, Lane b) const {
    const Lane direct = Group::abs(a - b);
    return Group::min(direct, period[axis] - direct);
  }
  ZHALO_HD Lane gap(int axis, Lane alo, Lane ahi, Lane blo, Lane bhi) const {
    const Lane direct = Group::max(blo - ahi, alo - bhi);
    return Group::min(direct, period[axis] - (Group::max(ahi, bhi) - Group::min(alo, blo)));
  }

  Lane period[3];
};

template <class Group>
struct Corners {
  typename Group::Lane lo[3];
  typename Group::Lane hi[3];
};

template <class Group>
struct TreeGroup {
  using Real = typename Group::real;
  using Lane = typename Group::Lane;

  template <class Metric>
  ZHALO_HD static Lane distance2(const Metric& metric, const Lane (&a)[3], const Lane (&b)[3]) {
    const Lane x = metric.difference(0, a[0], b[0]);
    const Lane y = metric.difference(1, a[1], b[1]);
    const Lane z = metric.difference(2, a[2], b[2]);
    return Group::fma(z, z, Group::fma(y, y, x * x));
  }

  /// Squared distance between boxes; never more, in floating point, than that of any two points in them, because every
  /// step is monotone under rounding and is the same as in distance2.
  template <class Metric>
  ZHALO_HD static Lane gap2(const Metric& metric, const Corners<Group>& a, const Corners<Group>& b, Lane zero) {
    const Lane x = Group::max(metric.gap(0, a.lo[0], a.hi[0], b.lo[0], b.hi[0]), zero);
    const Lane y = Group::max(metric.gap(1, a.lo[1], a.hi[1], b.lo[1], b.hi[1]), zero);
    const Lane z = Group::max(metric.gap(2, a.lo[2], a.hi[2], b.lo[2], b.hi[2]), zero);
    return Group::fma(z, z, Group::fma(y, y, x * x));
  }

  using Tree = TreeView<Real>;

  ZHALO_HD static void load_particles(const Group& g, const Tree& tree, Index first, Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) x[axis] = g.load(tree.pos.axis[axis] + first);
  }
  ZHALO_HD static void broadcast_particle(const Group& g, const Tree& tree, Index i, Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) x[axis] = g.broadcast(tree.pos.axis[axis][i]);
  }
  ZHALO_HD static void load_boxes(const Group& g, const Tree& tree, Index node, Corners<Group>& c) {
    for (int axis = 0; axis < 3; ++axis) {
      c.lo[axis] = g.load(tree.boxes.lo[axis] + node);
      c.hi[axis] = g.load(tree.boxes.hi[axis] + node);
    }
  }
  ZHALO_HD static void broadcast_box(const Group& g, const Tree& tree, Index node, Corners<Group>& c) {
    for (int axis = 0; axis < 3; ++axis) {
      c.lo[axis] = g.broadcast(tree.boxes.lo[axis][node]);
      c.hi[axis] = g.broadcast(tree.boxes.hi[axis][node]);
    }
  }

 protected:
  /// Children of one node.
  struct Siblings {
    int plane;
    Index first;
  };

  /// A walk has `scratch` memory with a `stack`, and its `height`.
  template <class Walk>
  ZHALO_HD static void push(const Group& g, Walk& walk, int plane, Index node) {
    ZHALO_EXPECT(walk.height < static_cast<int>(std::extent_v<decltype(walk.scratch.stack)>));
    ZHALO_EXPECT(plane < 16 && node < Index{1} << plane_shift);
    const auto entry = static_cast<std::uint32_t>(plane) << plane_shift | static_cast<std::uint32_t>(node);
    g.one([&] { walk.scratch.stack[walk.height] = entry; });
    ++walk.height;
  }
  template <class Walk>
  ZHALO_HD static Siblings pop(const Group& g, Walk& walk, const Tree& tree) {
    g.sync();
    const std::uint32_t entry = walk.scratch.stack[--walk.height];
    g.sync();
    const int plane = static_cast<int>(entry >> plane_shift);
    const Index node = entry & ((std::uint32_t{1} << plane_shift) - 1);
    return {plane - 1, node * tree.fanout};
  }

 private:
  static constexpr int plane_shift = 28;  ///< of a stack entry: the plane above, the node below
};

}  // namespace zhalo::kernels::ZHALO_GROUP_TARGET
ZHALO_GROUP_END
