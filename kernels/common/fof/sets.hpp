/// What loops do with the sets of particles: labels, and the ghosts of other ranks.
#pragma once

#include <cstdint>

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/fof.hpp"
#include "kernels/sort.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

// From sets to canonical labels, on one rank and over ranks.

/// Looks for the root again: while others halved paths, nobody could promise that a parent is a
/// root already. Here nobody halves them, so that the parents that are written stay.
template <class T>
struct WriteLabel {
  DisjointSets sets;
  Span<const LocalIndex> order;
  Span<const T> label_of_root;
  Span<Index> label;

  ZHALO_HD Index target(Index i) const { return order.empty() ? i : Index{order[i]}; }

  ZHALO_HD void prefetch(Index i) const { prefetch_line(&label[target(i)]); }

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex root = sets.root_of(static_cast<LocalIndex>(i));
    atomic_store(sets.parent[i], root);
    label[target(i)] = Index{label_of_root[root]};
  }
};

template <class E, class T>
void write_labels(const E& exec, const DisjointSets& sets, Span<const LocalIndex> order,
                  Span<const T> label_of_root, Span<Index> label) {
  for_each(exec, label.size(), WriteLabel<T>{sets, order, label_of_root, label});
}

ZHALO_INSTANTIATE(write_labels, LocalIndex);
ZHALO_INSTANTIATE(write_labels, Index);

// Particles that other ranks have to see, and what seeing them tells.

/// Whether a box comes within reach of others, in double: positions of either precision are exact
/// there.
template <class Real>
struct Reach {
  GhostSearch<Real> search;

  ZHALO_HD bool reaches(const CoarseBox& a, const CoarseBox& b) const {
    return gap2(a, b, search.period) <= search.reach2;
  }

  /// Box of a node of the tree, by its index among all nodes' boxes.
  ZHALO_HD CoarseBox box_of(Index node) const {
    CoarseBox box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = static_cast<double>(search.tree.boxes.lo[axis][node]);
      box.hi[axis] = static_cast<double>(search.tree.boxes.hi[axis][node]);
    }
    return box;
  }

  ZHALO_HD bool is_near_hull(Index node) const { return reaches(box_of(node), search.hull); }

  /// One bit for each of the boxes that is within reach of a node and one of `among`.
  ZHALO_HD std::uint64_t near_boxes(Index node, std::uint64_t among) const {
    const CoarseBox box_of_node = box_of(node);
    std::uint64_t near = 0;
    for (Index box = 0; box < search.boxes.size(); ++box) {
      const std::uint64_t bit = std::uint64_t{1} << box;
      if ((among & bit) != 0 && reaches(box_of_node, search.boxes[box])) near |= bit;
    }
    return near;
  }

  ZHALO_HD bool is_near(Index particle, std::uint64_t boxes) const {
    CoarseBox point;
    for (int axis = 0; axis < 3; ++axis)
      point.lo[axis] = static_cast<double>(search.tree.pos.axis[axis][particle]);
    point.hi = point.lo;
    for (Index box = 0; box < search.boxes.size(); ++box) {
      if ((boxes >> static_cast<unsigned>(box) & 1) != 0 && reaches(point, search.boxes[box]))
        return true;
    }
    return false;
  }
};

/// Counts (or, with `selected`, writes) the particles within reach below one node of level 1, or in
/// one leaf where that is the top.
template <class Real>
struct GhostsOfNode : Reach<Real> {
  static constexpr bool long_elements = true;
  int level = 0;              ///< of the nodes
  Span<Index> counts;         ///< per node; after a scan, offsets
  Span<LocalIndex> selected;  ///< empty: count

  ZHALO_HD void operator()(Index node) const {
    const TreeView<Real>& tree = this->search.tree;
    const Index at = tree.level_first[level] + node;
    // Most nodes are far from most boxes: their leaves are held against the others only.
    const std::uint64_t near = this->is_near_hull(at) ? this->near_boxes(at, ~std::uint64_t{0}) : 0;
    const Index leaves = level == 0 ? 1 : tree.fanout;
    Index found = 0;
    for (Index leaf = node * leaves;
         near != 0 && leaf < (node + 1) * leaves && leaf < tree.level_size[0]; ++leaf) {
      found += ghosts_of_leaf(leaf, near, selected.empty() ? 0 : counts[node] + found);
    }
    if (selected.empty()) counts[node] = found;
  }

 private:
  ZHALO_HD Index ghosts_of_leaf(Index leaf, std::uint64_t among, Index first) const {
    const Index begin = this->search.tree.leaf_begin[leaf];
    const Index end = this->search.tree.leaf_end[leaf];
    Index found = 0;
    const std::uint64_t near = begin == end ? 0 : this->near_boxes(leaf, among);
    for (Index i = begin; near != 0 && i < end; ++i) {
      if (!this->is_near(i, near)) continue;
      if (!selected.empty()) selected[first + found] = static_cast<LocalIndex>(i);
      ++found;
    }
    return found;
  }
};

/// Where the ghosts of each node begin, and how many there are.
struct GhostOffsets {
  int level;
  Buffer<Index> first;
  Index total;
};

template <class E, class Real>
GhostOffsets ghost_offsets(const E& exec, const GhostSearch<Real>& search) {
  const int level = search.tree.num_levels > 1 ? 1 : 0;
  GhostOffsets offsets{level, {exec, search.tree.level_size[level], "counts of ghosts"}, 0};
  for_each(exec, offsets.first.size(),
           GhostsOfNode<Real>{{search}, level, offsets.first.span(), {}});
  offsets.total = exclusive_scan(exec, offsets.first.span());
  return offsets;
}

template <class E, class Real>
Index count_ghosts(const E& exec, const GhostSearch<Real>& search) {
  return ghost_offsets(exec, search).total;
}

template <class E, class Real>
Buffer<LocalIndex> select_ghosts(const E& exec, const GhostSearch<Real>& search) {
  GhostOffsets offsets = ghost_offsets(exec, search);
  Buffer<LocalIndex> selected(exec, offsets.total, "ghosts");
  if (offsets.total > 0)
    for_each(exec, offsets.first.size(),
             GhostsOfNode<Real>{{search}, offsets.level, offsets.first.span(), selected.span()});
  return selected;
}

struct FindRoot {
  DisjointSets sets;
  Span<const LocalIndex> particles;
  Span<LocalIndex> roots;

  ZHALO_HD void operator()(Index i) const { roots[i] = sets.find(particles[i]); }
};

template <class E>
void find_roots(const E& exec, const DisjointSets& sets, Span<const LocalIndex> particles,
                Span<LocalIndex> roots) {
  for_each(exec, particles.size(), FindRoot{sets, particles, roots});
}

/// The edge of each ghost, none where it is in no set of this rank.
struct FindEdge {
  DisjointSets sets;
  GhostsView ghosts;
  Span<GhostEdge> edges;

  ZHALO_HD void operator()(Index i) const {
    const LocalIndex root = sets.find(ghosts.first_in_sets + static_cast<LocalIndex>(i));
    // Sets are known by their smallest element: one with a particle of this rank has its root here.
    edges[i] = {root < ghosts.first_in_sets ? ghosts.sources.global(i, ghosts.root[i]) : Index{-1},
                root};
  }
};

/// Ghosts that follow each other in Z-order mostly tell of one edge: few are left to be sorted.
struct StartsEdge {
  Span<const GhostEdge> edges;

  ZHALO_HD bool operator()(Index i) const {
    return edges[i].remote >= 0 && (i == 0 || !(edges[i] == edges[i - 1]));
  }
};

struct KeyOfEdge {
  Span<const GhostEdge> edges;
  Span<const LocalIndex> order;
  bool is_remote;  ///< the end that is the key
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index i) const {
    const GhostEdge& edge = edges[order[i]];
    keys[i] = is_remote ? static_cast<std::uint64_t>(edge.remote) : std::uint64_t{edge.local};
  }
};

struct DiffersFromFormer {
  Span<const GhostEdge> edges;
  Span<const LocalIndex> order;

  ZHALO_HD bool operator()(Index i) const {
    return i == 0 || !(edges[order[i]] == edges[order[i - 1]]);
  }
};

struct TakeEdge {
  Span<const GhostEdge> edges;
  Span<const LocalIndex> order;
  Span<const LocalIndex> chosen;
  Span<GhostEdge> to;

  ZHALO_HD void operator()(Index i) const { to[i] = edges[order[chosen[i]]]; }
};

/// Brings `order` into the order of the edges' remote and then local ends: stably, the lesser key
/// first.
template <class E>
void sort_edges(const E& exec, Span<const GhostEdge> edges, const GhostsView& ghosts,
                Span<LocalIndex> order) {
  const Index num = order.size();
  Buffer<std::uint64_t> keys(exec, 2 * num, "edges between ranks");
  Buffer<LocalIndex> spare(exec, num, "edges between ranks");
  const SortPairs pairs{keys.span().subspan(0, num), order, keys.span().subspan(num, num),
                        spare.span()};
  for (const bool is_remote : {false, true}) {
    const Index num_values = is_remote ? ghosts.num_total : Index{ghosts.first_in_sets};
    for_each(exec, num, KeyOfEdge{edges, order, is_remote, pairs.keys});
    sort_pairs(exec, pairs, highest_bit(static_cast<std::uint64_t>(num_values)) + 1);
  }
}

template <class E>
Buffer<GhostEdge> find_edges(const E& exec, const DisjointSets& sets, const GhostsView& ghosts) {
  Buffer<GhostEdge> of_ghosts(exec, ghosts.root.size(), "edges between ranks");
  for_each(exec, of_ghosts.size(), FindEdge{sets, ghosts, of_ghosts.span()});
  const Span<const GhostEdge> edges = of_ghosts.span();
  Buffer<LocalIndex> order = select(exec, edges.size(), StartsEdge{edges});
  if (order.empty()) return {};
  sort_edges(exec, edges, ghosts, order.span());
  const Buffer<LocalIndex> chosen =
      select(exec, order.size(), DiffersFromFormer{edges, order.span()});
  Buffer<GhostEdge> distinct(exec, chosen.size(), "edges between ranks");
  for_each(exec, distinct.size(), TakeEdge{edges, order.span(), chosen.span(), distinct.span()});
  return distinct;
}

ZHALO_INSTANTIATE_REALS(select_ghosts);
ZHALO_INSTANTIATE_REALS(count_ghosts);
ZHALO_INSTANTIATE(find_roots);
ZHALO_INSTANTIATE(find_edges);

}  // namespace zhalo::kernels
