// Distances between lanes and boxes of a tree, for any Lanes. No include guard: compiled once
// for each kind of Lanes.

ZHALO_LANES_BEGIN
namespace ZHALO_LANES_NAMESPACE {

/// Distances where no image is nearer.
template <class Lanes>
struct OpenSpace {
  using Lane = typename Lanes::Lane;
  static constexpr bool periodic = false;

  ZHALO_LANES_INLINE ZHALO_HD Lane difference(int, Lane a, Lane b) const {
    return Lanes::abs(a - b);
  }
  /// Distance between the intervals [alo, ahi] and [blo, bhi]; negative where they overlap.
  ZHALO_LANES_INLINE ZHALO_HD Lane gap(int, Lane alo, Lane ahi, Lane blo, Lane bhi) const {
    return Lanes::max(blo - ahi, alo - bhi);
  }
  /// The largest distance of points in them.
  ZHALO_LANES_INLINE ZHALO_HD Lane span(int, Lane alo, Lane ahi, Lane blo, Lane bhi) const {
    return Lanes::max(ahi - blo, bhi - alo);
  }
};

/// Distances to the nearest periodic image. An axis without periodicity has an infinite period.
template <class Lanes>
struct PeriodicSpace {
  using Lane = typename Lanes::Lane;
  static constexpr bool periodic = true;

  ZHALO_HD PeriodicSpace(const Lanes& lanes, const typename Lanes::real (&length)[3])
      : period{lanes.broadcast(length[0]), lanes.broadcast(length[1]), lanes.broadcast(length[2])} {
  }

  ZHALO_LANES_INLINE ZHALO_HD Lane difference(int axis, Lane a, Lane b) const {
    const Lane direct = Lanes::abs(a - b);
    return Lanes::min(direct, period[axis] - direct);
  }
  ZHALO_LANES_INLINE ZHALO_HD Lane gap(int axis, Lane alo, Lane ahi, Lane blo, Lane bhi) const {
    const Lane direct = Lanes::max(blo - ahi, alo - bhi);
    return Lanes::min(direct, period[axis] - (Lanes::max(ahi, bhi) - Lanes::min(alo, blo)));
  }
  ZHALO_LANES_INLINE ZHALO_HD Lane span(int axis, Lane alo, Lane ahi, Lane blo, Lane bhi) const {
    const Lane apart = Lanes::max(blo - ahi, alo - bhi);  // negative where they overlap
    return Lanes::min(Lanes::max(ahi - blo, bhi - alo), period[axis] - apart);
  }

  Lane period[3];
};

template <class Lanes>
struct Corners {
  typename Lanes::Lane lo[3];
  typename Lanes::Lane hi[3];
};

template <class Lanes>
struct TreeLanes {
  using Real = typename Lanes::real;
  using Lane = typename Lanes::Lane;

  /// Of one particle: in a device's shared memory it is read at once.
  struct alignas(16) Position {
    Real x[3];
  };

  template <class Metric>
  ZHALO_LANES_INLINE ZHALO_HD static Lane distance2(const Metric& metric, const Lane (&a)[3],
                                                    const Lane (&b)[3]) {
    const Lane x = metric.difference(0, a[0], b[0]);
    const Lane y = metric.difference(1, a[1], b[1]);
    const Lane z = metric.difference(2, a[2], b[2]);
    return Lanes::fma(z, z, Lanes::fma(y, y, x * x));
  }

  /// Squared distance between boxes; never more, in floating point, than that of any two points in
  /// them, because every step is monotone under rounding and is the same as in distance2.
  template <class Metric>
  ZHALO_LANES_INLINE ZHALO_HD static Lane gap2(const Metric& metric, const Corners<Lanes>& a,
                                               const Corners<Lanes>& b, Lane zero) {
    const Lane x = Lanes::max(metric.gap(0, a.lo[0], a.hi[0], b.lo[0], b.hi[0]), zero);
    const Lane y = Lanes::max(metric.gap(1, a.lo[1], a.hi[1], b.lo[1], b.hi[1]), zero);
    const Lane z = Lanes::max(metric.gap(2, a.lo[2], a.hi[2], b.lo[2], b.hi[2]), zero);
    return Lanes::fma(z, z, Lanes::fma(y, y, x * x));
  }

  /// No less, in the same way, than that of any two points in them.
  template <class Metric>
  ZHALO_LANES_INLINE ZHALO_HD static Lane span2(const Metric& metric, const Corners<Lanes>& a,
                                                const Corners<Lanes>& b) {
    const Lane x = metric.span(0, a.lo[0], a.hi[0], b.lo[0], b.hi[0]);
    const Lane y = metric.span(1, a.lo[1], a.hi[1], b.lo[1], b.hi[1]);
    const Lane z = metric.span(2, a.lo[2], a.hi[2], b.lo[2], b.hi[2]);
    return Lanes::fma(z, z, Lanes::fma(y, y, x * x));
  }

  using Tree = TreeView<Real>;

  ZHALO_LANES_INLINE ZHALO_HD static void load_particles(const Lanes& lanes, const Tree& tree,
                                                         Index first, Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) x[axis] = lanes.load(tree.pos.axis[axis] + first);
  }
  /// The first `num` of them; the other lanes get anything. Threads do not load what nobody needs.
  ZHALO_LANES_INLINE ZHALO_HD static void load_some(const Lanes& lanes, const Tree& tree,
                                                    Index first, Index num, Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) {
      const Real* from = tree.pos.axis[axis] + first;
      if constexpr (Lanes::keeps_elements) {
        x[axis] = lanes.load_or(from, num, 0);
      } else {
        x[axis] = lanes.load(from);
      }
    }
  }
  ZHALO_LANES_INLINE ZHALO_HD static void broadcast_particle(const Lanes& lanes, const Tree& tree,
                                                             Index i, Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) x[axis] = lanes.broadcast(tree.pos.axis[axis][i]);
  }

  /// What one lane loaded, of elements from `first` on.
  struct LaneOf {
    Index first;
    int lane;
  };
  /// broadcast_particle() of what load_particles() loaded.
  ZHALO_LANES_INLINE ZHALO_HD static void broadcast_particle_of(const Lanes& lanes,
                                                                const Tree& tree, const LaneOf& one,
                                                                const Lane (&loaded)[3],
                                                                Lane (&x)[3]) {
    for (int axis = 0; axis < 3; ++axis)
      x[axis] =
          lanes.broadcast(lanes.element(loaded[axis], tree.pos.axis[axis] + one.first, one.lane));
  }
  ZHALO_LANES_INLINE ZHALO_HD static void load_boxes(const Lanes& lanes, const Tree& tree,
                                                     Index node, Corners<Lanes>& c) {
    for (int axis = 0; axis < 3; ++axis) {
      c.lo[axis] = lanes.load(tree.boxes.lo[axis] + node);
      c.hi[axis] = lanes.load(tree.boxes.hi[axis] + node);
    }
  }
  ZHALO_LANES_INLINE ZHALO_HD static void broadcast_box(const Lanes& lanes, const Tree& tree,
                                                        Index node, Corners<Lanes>& c) {
    for (int axis = 0; axis < 3; ++axis) {
      c.lo[axis] = lanes.broadcast(tree.boxes.lo[axis][node]);
      c.hi[axis] = lanes.broadcast(tree.boxes.hi[axis][node]);
    }
  }

 protected:
  /// Children of one node.
  struct Siblings {
    int level;
    Index first;
  };

  /// A walk has `scratch` memory with a `stack`, and its `height`.
  template <class Walk>
  ZHALO_HD static void push(const Lanes& lanes, Walk& walk, int level, Index node) {
    ZHALO_EXPECT(walk.height < static_cast<int>(std::extent_v<decltype(walk.scratch.stack)>));
    ZHALO_EXPECT(level < 16 && node < Index{1} << plane_shift);
    const auto entry =
        static_cast<std::uint32_t>(level) << plane_shift | static_cast<std::uint32_t>(node);
    lanes.one([&] { walk.scratch.stack[walk.height] = entry; });
    ++walk.height;
  }
  template <class Walk>
  ZHALO_HD static Siblings pop(const Lanes& lanes, Walk& walk, const Tree& tree) {
    lanes.sync();
    const std::uint32_t entry = walk.scratch.stack[--walk.height];
    lanes.sync();
    const int level = static_cast<int>(entry >> plane_shift);
    const Index node = entry & ((std::uint32_t{1} << plane_shift) - 1);
    return {level - 1, node * tree.fanout};
  }

 private:
  static constexpr int plane_shift = 28;  ///< of a stack entry: the level above, the node below
};

}  // namespace ZHALO_LANES_NAMESPACE
ZHALO_LANES_END
