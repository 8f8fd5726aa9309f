/// Cells of sorted keys, and the leaves of level 0.
#pragma once

#include "kernels/common/backend.hpp"
#include "kernels/particles.hpp"
#include "kernels/tree.hpp"

namespace zhalo::kernels {

template <class Keys>
struct CellCutterOf : CellCutOf<Keys> {
  using Base = CellCutOf<Keys>;
  using Base::bits;
  using Base::equal_keys_stay;
  using Base::keys;
  using Base::max_size;

  /// End of the cell that starts at s.
  ZHALO_HD Index end_of_cell(Index s) const {
    const Index num = keys.size();
    const int back = s == 0 ? 0 : common_prefix(keys[s - 1], keys[s], bits) + 1;
    const int ahead = s + max_size < num ? common_prefix(keys[s], keys[s + max_size], bits) + 1 : 0;
    const int depth = back > ahead ? back : ahead;
    if (depth >= bits) {
      const Index end =
          first_not_sharing(s, bits, equal_keys_stay ? num : minimum(num, s + max_size));
      return end;
    }
    return first_not_sharing(s, depth, minimum(num, s + max_size));
  }

  /// Whether a cell starts at i, found from the keys around i alone.
  ZHALO_HD bool starts_cell(Index i) const {
    if (i == 0) return true;
    const int depth = common_prefix(keys[i - 1], keys[i], bits);
    if (depth >= bits) {
      if (equal_keys_stay) return false;
      return (i - first_sharing(i, bits, 0)) % max_size == 0;
    }
    const Index first = first_sharing(i - 1, depth, i > max_size ? i - 1 - max_size : 0);
    return first + max_size < keys.size() &&
           common_prefix(keys[first], keys[first + max_size], bits) >= depth;
  }

 private:
  ZHALO_HD static Index minimum(Index a, Index b) { return a < b ? a : b; }

  /// First j > s with fewer than `depth` bits in common with s, or `limit`; doubling steps, then
  /// bisection.
  ZHALO_HD Index first_not_sharing(Index s, int depth, Index limit) const {
    Index shares = s;
    Index step = 1;
    while (shares + step < limit && common_prefix(keys[s], keys[shares + step], bits) >= depth) {
      shares += step;
      step *= 2;
    }
    Index beyond = minimum(limit, shares + step);
    while (beyond - shares > 1) {
      const Index middle = shares + (beyond - shares) / 2;
      if (common_prefix(keys[s], keys[middle], bits) >= depth) {
        shares = middle;
      } else {
        beyond = middle;
      }
    }
    return beyond;
  }

  /// Lowest j >= limit from which on all up to s share `depth` bits with s.
  ZHALO_HD Index first_sharing(Index s, int depth, Index limit) const {
    Index shares = s;
    Index beyond = limit - 1;
    while (shares - beyond > 1) {
      const Index middle = beyond + (shares - beyond) / 2;
      if (common_prefix(keys[s], keys[middle], bits) >= depth) {
        shares = middle;
      } else {
        beyond = middle;
      }
    }
    return shares;
  }
};

using CellCutter = CellCutterOf<Span<const std::uint64_t>>;

/// The keys of the leaves, as far as there are any.
struct TakeLeafKey {
  Span<const std::uint64_t> keys;
  const LocalIndex* leaves;
  const Index* num_leaves;  ///< none: as many as there is room for
  Span<std::uint64_t> to;

  ZHALO_HD void operator()(Index i) const {
    if (num_leaves == nullptr || i < *num_leaves) to[i] = keys[leaves[i]];
  }
};

struct WriteLeaf {
  LeafRanges leaves;

  ZHALO_HD void operator()(Index i) const {
    const Index node = i / leaves.fanout;
    leaves.begin[i] = leaves.end[i] = 0;
    if (node >= leaves.node_starts.size()) return;
    const Index num_leaves = leaves.leaf_starts.size();
    const Index leaf = leaves.node_starts[node] + i % leaves.fanout;
    const Index node_end =
        node + 1 < leaves.node_starts.size() ? Index{leaves.node_starts[node + 1]} : num_leaves;
    if (leaf >= node_end) return;
    leaves.begin[i] = leaves.leaf_starts[leaf];
    leaves.end[i] = leaf + 1 < num_leaves ? leaves.leaf_starts[leaf + 1]
                                          : static_cast<LocalIndex>(leaves.num_particles);
  }
};

template <class E>
void write_leaves(const E& exec, const LeafRanges& leaves) {
  for_each(exec, leaves.begin.size(), WriteLeaf{leaves});
}

struct WriteEvenLeaf {
  EvenLeaves leaves;

  ZHALO_HD void operator()(Index leaf) const {
    const Index begin = leaf * leaves.leaf_size;
    const Index end = begin + leaves.leaf_size;
    leaves.begin[leaf] = static_cast<LocalIndex>(begin < leaves.num_particles ? begin : 0);
    leaves.end[leaf] = static_cast<LocalIndex>(
        begin < leaves.num_particles ? (end < leaves.num_particles ? end : leaves.num_particles)
                                     : 0);
  }
};

template <class E>
void write_even_leaves(const E& exec, const EvenLeaves& leaves) {
  for_each(exec, leaves.begin.size(), WriteEvenLeaf{leaves});
}

template <class Real>
struct CountParticlesBefore {
  TreeView<Real> tree;
  Span<const Index> leaves;
  Span<Index> before;

  ZHALO_HD void operator()(Index i) const { before[i] = tree.particles_before(leaves[i]); }
};

template <class E, class Real>
void count_particles_before(const E& exec, const TreeView<Real>& tree, Span<const Index> leaves,
                            Span<Index> before) {
  for_each(exec, leaves.size(), CountParticlesBefore<Real>{tree, leaves, before});
}

ZHALO_INSTANTIATE_REALS(count_particles_before);
ZHALO_INSTANTIATE(write_leaves);
ZHALO_INSTANTIATE(write_even_leaves);

}  // namespace zhalo::kernels
