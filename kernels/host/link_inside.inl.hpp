// Linking the particles inside each leaf on a host: all distances first, then the components. No
// include guard: compiled once for each vector target.
//
// The common text (kernels/common/fof/link.inl.hpp) measures distances from those particles that it
// has reached. On a host it costs less to measure all, without branches. The sets are the same.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// As LinkInside.
template <class Lanes>
struct LinkInsideAtOnce : LinkInside<Lanes> {
  using Base = LinkInside<Lanes>;
  using Base::fof;
  using typename Base::Lane;
  using typename Base::Scratch;

  void operator()(const Lanes& lanes, Index leaf, Scratch&) const {
    this->link_leaf(lanes, leaf, [&](const auto& metric, LocalIndex begin, Index num) {
      Friends friends;
      const std::uint64_t doubtful = find_friends(lanes, metric, begin, num, friends);
      if (doubtful != 0) [[unlikely]]
        decide(begin, num, friends);
      return link_components(begin, num, friends.of);
    });
  }

 private:
  /// Bit j of of[i] is set if the particles i and j of a leaf are friends. `doubtful` has those of
  /// them that only float64 can tell.
  struct Friends {
    std::uint64_t of[max_leaf_size];
    std::uint64_t doubtful[max_leaf_size];
  };

  /// Returns whether any are doubtful.
  template <class Metric>
  std::uint64_t find_friends(const Lanes& lanes, const Metric& metric, LocalIndex begin, Index num,
                             Friends& friends) const {
    std::uint64_t any_doubtful = 0;
    for (Index j = 0; j < num; j += Lanes::size) {
      Lane xj[3];
      this->load_particles(lanes, fof.tree, begin + j, xj);
      const std::uint64_t in_leaf = first_bits(num - j < Lanes::size ? num - j : Lanes::size);
      for (Index i = 0; i < num; ++i) {
        Lane xi[3];
        this->broadcast_particle(lanes, fof.tree, begin + i, xi);
        const Lane r2 = this->distance2(metric, xi, xj);
        const std::uint64_t near = lanes.ballot(r2 <= lanes.broadcast(metric.reach2)) & in_leaf;
        const std::uint64_t doubtful = near & ~lanes.ballot(r2 <= lanes.broadcast(metric.within2));
        friends.of[i] = (j == 0 ? 0 : friends.of[i]) | near << j;
        friends.doubtful[i] = (j == 0 ? 0 : friends.doubtful[i]) | doubtful << j;
        any_doubtful |= doubtful;
      }
    }
    return any_doubtful;
  }

  void decide(LocalIndex begin, Index num, Friends& friends) const {
    for (Index i = 0; i < num; ++i) {
      for (std::uint64_t left = friends.doubtful[i]; left != 0; left &= left - 1) {
        const int j = lowest_bit(left);
        if (!fof.are_friends(fof, begin + i, fof, begin + Index{j}))
          friends.of[i] &= ~(std::uint64_t{1} << j);
      }
    }
  }

  /// Flood fill. True if there is one component.
  bool link_components(LocalIndex begin, Index num,
                       const std::uint64_t (&friends)[max_leaf_size]) const {
    const LocalIndex first = fof.first_in_sets + begin;
    LocalIndex* const parent = fof.sets.parent.data() + first;
    std::uint64_t left = 0;  // those that have friends; most have none where b is small
    for (Index i = 0; i < num; ++i) {
      parent[i] = first + static_cast<LocalIndex>(i);
      left |= friends[i] & ~(std::uint64_t{1} << i);
    }
    bool one_component = num == 1;
    while (left != 0) {
      const int seed = lowest_bit(left);
      std::uint64_t component = std::uint64_t{1} << seed;
      for (std::uint64_t frontier = component; frontier != 0;) {
        const std::uint64_t found = friends[lowest_bit(frontier)] & ~component;
        component |= found;
        frontier = (frontier & (frontier - 1)) | found;
      }
      left &= ~component;
      one_component = component == first_bits(num);
      const LocalIndex root = first + static_cast<LocalIndex>(seed);
      for (std::uint64_t members = component; members != 0; members &= members - 1)
        parent[lowest_bit(members)] = root;
    }
    return one_component;
  }
};

template <class Real>
void link_inside_at_once(const Host& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.tree.level_size[0], LinkInsideAtOnce<LanesOf<Real>>{{{{fof}}}},
                      LanesOf<Real>{});
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
