// Linking the particles inside each leaf on a host: all distances first, then the components. No
// include guard: compiled once for each vector target.
//
// To measure only distances from particles that were reached takes fewer of them, but branches, and
// costs more.

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

template <class Lanes>
struct LinkInsideAtOnce : LinkInside<Lanes> {
  using Base = LinkInside<Lanes>;
  using Base::fof;
  using typename Base::Lane;
  struct Scratch {};

  void operator()(const Lanes& lanes, Index leaf, Scratch&) const {
    this->link_leaf(lanes, leaf, [&](const auto& metric, LocalIndex begin, Index num) {
      Friends friends;
      if (find_friends(lanes, metric, {begin, num}, friends)) [[unlikely]]
        decide({begin, num}, friends);
      return link_components({begin, num}, friends);
    });
  }

 private:
  /// Bit j of element i is set if the particles i and j of a leaf are friends.
  using Friends = std::uint64_t[max_leaf_size];

  struct Leaf {
    LocalIndex begin;
    Index num;
  };

  /// Returns whether only float64 can tell for some.
  template <class Metric>
  bool find_friends(const Lanes& lanes, const Metric& metric, const Leaf& leaf,
                    Friends& friends) const {
    constexpr int together = 4;  // vectors
    bool any_doubtful = false;
    for (Index j = 0; j < leaf.num; j += together * Lanes::size) {
      const auto find = [&]<int num_vectors>(std::integral_constant<int, num_vectors>) {
        any_doubtful |= find_friends_among<num_vectors>(lanes, metric, leaf, j, friends);
      };
      const Index left = leaf.num - j;
      if (left <= Lanes::size) {
        find(std::integral_constant<int, 1>{});
      } else if (left <= 2 * Lanes::size) {
        find(std::integral_constant<int, 2>{});
      } else if (left <= 3 * Lanes::size) {
        find(std::integral_constant<int, 3>{});
      } else {
        find(std::integral_constant<int, together>{});
      }
    }
    return any_doubtful;
  }

  /// Among some vectors of particles, from the j-th on.
  template <int num_vectors, class Metric>
  bool find_friends_among(const Lanes& lanes, const Metric& metric, const Leaf& leaf, Index j,
                          Friends& friends) const {
    Lane others[std::size_t{num_vectors}][3];
    for (int v = 0; v < num_vectors; ++v)
      this->load_particles(lanes, fof.tree, leaf.begin + j + Index{v} * Lanes::size, others[v]);
    const std::uint64_t in_leaf = first_bits(leaf.num - j);
    const hn::ScalableTag<typename Lanes::real> tag;
    const Lane reach2 = lanes.broadcast(metric.reach2);
    const Lane within2 = lanes.broadcast(metric.within2);
    auto doubtful = hn::FirstN(tag, 0);  // what follows the leaf counts, too: this is as rare
    for (Index i = 0; i < leaf.num; ++i) {
      Lane x[3];
      this->broadcast_particle(lanes, fof.tree, leaf.begin + i, x);
      std::uint64_t near = 0;
      for (int v = 0; v < num_vectors; ++v) {
        const Lane r2 = this->distance2(metric, x, others[v]);
        const auto is_near = r2 <= reach2;
        near |= lanes.ballot(is_near) << (v * Lanes::size);
        const auto is_certain = r2 <= within2;
        doubtful = hn::Or(doubtful, hn::AndNot(is_certain.value, is_near.value));
      }
      friends[i] = (j == 0 ? 0 : friends[i]) | (near & in_leaf) << j;
    }
    return !hn::AllFalse(tag, doubtful);
  }

  /// Few leaves need this.
  void decide(const Leaf& leaf, Friends& friends) const {
    for (Index i = 0; i < leaf.num; ++i) {
      for (std::uint64_t left = friends[i]; left != 0; left &= left - 1) {
        const int j = lowest_bit(left);
        if (!fof.are_friends(fof, leaf.begin + i, fof, leaf.begin + Index{j}))
          friends[i] &= ~(std::uint64_t{1} << j);
      }
    }
  }

  /// Flood fill. True if there is one component.
  bool link_components(const Leaf& leaf, const Friends& friends) const {
    const LocalIndex first = fof.first_in_sets + leaf.begin;
    LocalIndex* const parent = fof.sets.parent.data() + first;
    std::uint64_t left = 0;  // those that have friends; most have none where b is small
    for (Index i = 0; i < leaf.num; ++i) {
      parent[i] = first + static_cast<LocalIndex>(i);
      left |= friends[i] & ~(std::uint64_t{1} << i);
    }
    bool one_component = leaf.num == 1;
    while (left != 0) {
      const int seed = lowest_bit(left);
      std::uint64_t component = std::uint64_t{1} << seed;
      for (std::uint64_t frontier = component; frontier != 0;) {
        const std::uint64_t found = friends[lowest_bit(frontier)] & ~component;
        component |= found;
        frontier = (frontier & (frontier - 1)) | found;
      }
      left &= ~component;
      one_component = component == first_bits(leaf.num);
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
