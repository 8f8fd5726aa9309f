/// What surrounds the searches for neighbours: indices of nodes, rows in order, rows as results.
#pragma once

#include <limits>

#include "kernels/atomics.hpp"
#include "kernels/neighbour_views.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

inline constexpr Index largest_index = std::numeric_limits<Index>::max();

/// Smallest global index below each leaf, then below each node of the coarser levels.
template <class Real>
struct SmallestOfLeaf {
  TreeView<Real> tree;
  SearchColumn<Index> global_index;
  LocalIndex first_local_index;
  Span<Index> smallest;

  ZHALO_HD void operator()(Index leaf) const {
    Index least = largest_index;
    for (Index i = tree.leaf_begin[leaf]; i < Index{tree.leaf_end[leaf]}; ++i) {
      const Index index = global_index[first_local_index + static_cast<LocalIndex>(i)];
      least = index < least ? index : least;
    }
    smallest[leaf] = least;
  }
};

template <class Real>
struct SmallestOfNode {
  TreeView<Real> tree;
  int level;
  Span<Index> smallest;

  ZHALO_HD void operator()(Index node) const {
    Index least = largest_index;
    for (Index child = node * tree.fanout;
         child < (node + 1) * tree.fanout && child < tree.level_size[level - 1]; ++child) {
      const Index index = smallest[tree.level_first[level - 1] + child];
      least = index < least ? index : least;
    }
    smallest[tree.level_first[level] + node] = least;
  }
};

template <class E, class Real>
void find_smallest_indices(const E& exec, const SearchView<Real>& search, Span<Index> smallest) {
  for_each(
      exec, search.tree.level_size[0],
      SmallestOfLeaf<Real>{search.tree, search.global_index, search.first_local_index, smallest});
  for (int level = 1; level < search.tree.num_levels; ++level) {
    for_each(exec, search.tree.level_size[level],
             SmallestOfNode<Real>{search.tree, level, smallest});
  }
}

/// Heap sort of one row by (squared distance, global index): in place, no recursion, n log n
/// always.
template <class Real>
struct SortRow {
  static constexpr bool long_elements = true;
  Span<const Index> offset;
  Real* distance2;
  LocalIndex* index;
  SearchColumn<Index> global_index;

  ZHALO_HD void operator()(Index row) const {
    const Index first = offset[row];
    const Index num = offset[row + 1] - first;
    for (Index i = num / 2; i-- > 0;) sift_down(first, i, num);
    for (Index end = num - 1; end > 0; --end) {
      swap(first, first + end);
      sift_down(first, 0, end);
    }
  }

 private:
  ZHALO_HD bool less(Index a, Index b) const {
    if (distance2[a] != distance2[b]) return distance2[a] < distance2[b];
    return global_index[index[a]] < global_index[index[b]];
  }
  ZHALO_HD void swap(Index a, Index b) const {
    const Real r2 = distance2[a];
    distance2[a] = distance2[b];
    distance2[b] = r2;
    const LocalIndex p = index[a];
    index[a] = index[b];
    index[b] = p;
  }
  ZHALO_HD void sift_down(Index first, Index root, Index num) const {
    while (2 * root + 1 < num) {
      Index child = 2 * root + 1;
      if (child + 1 < num && less(first + child, first + child + 1)) ++child;
      if (!less(first + root, first + child)) return;
      swap(first + root, first + child);
      root = child;
    }
  }
};

template <class E, class Real>
void sort_rows(const E& exec, Span<const Index> offset, const WithinRows<Real>& rows,
               SearchColumn<Index> global_index) {
  for_each(exec, offset.size() - 1,
           SortRow<Real>{offset, rows.distance2, rows.local_index, global_index});
}

/// Rows of k as a user gets them: missing neighbours are at infinity and have no index.
template <class Real>
struct WriteRow {
  static constexpr bool long_elements = true;
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  BestRows<Real> rows;
  SearchColumn<Index> global_index;
  RowOutput<Real> to;

  ZHALO_HD void operator()(Index row) const {
    const Index found = rows.count[row];
    const Index first = row * rows.k;
    for (Index i = 0; i < rows.k; ++i) {
      const Index at = first + i;
      if (!to.distance.empty()) {
        const Real r = i < found ? static_cast<Real>(sqrt(rows.distance2[at])) : infinity;
        to.distance[at] = static_cast<Real>(static_cast<double>(r) * to.unit);
      }
      if (to.index.empty()) continue;
      to.index[at] = i < found ? global_index[rows.local_index[at]] : Index{-1};
    }
  }
};

template <class E, class Real>
void write_rows(const E& exec, Index num, const BestRows<Real>& rows,
                SearchColumn<Index> global_index, const RowOutput<Real>& to) {
  for_each(exec, num, WriteRow<Real>{rows, global_index, to});
}

/// to[row][i] = element of the row's i-th neighbour; bytes `missing` where there is none.
struct GatherNeighbour {
  PlacedBytes column;
  Index k;
  Span<const LocalIndex> count;
  const LocalIndex* index;
  unsigned char missing;
  void* to;

  ZHALO_HD void operator()(Index at) const {
    unsigned char* element = static_cast<unsigned char*>(to) + at * column.element_size;
    if (at % k >= Index{count[at / k]}) {
      for (Index b = 0; b < column.element_size; ++b) element[b] = missing;
      return;
    }
    const LocalIndex p = index[at];
    const bool own = p < column.num_own;
    const auto* from = static_cast<const unsigned char*>(own ? column.own : column.fetched);
    from += Index{own ? p : p - column.num_own} * column.element_size;
    for (Index b = 0; b < column.element_size; ++b) element[b] = from[b];
  }
};

template <class E, class Real>
void gather_neighbours(const E& exec, const PlacedBytes& column, const BestRows<Real>& rows,
                       Span<const LocalIndex> count, const MissingBytes& to) {
  for_each(exec, count.size() * rows.k,
           GatherNeighbour{column, rows.k, count, rows.local_index, to.missing, to.to});
}

template <class Real>
struct FindReach {
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  SearchView<Real> search;
  BestRows<Real> rows;
  Span<Real> reach2;

  ZHALO_HD void operator()(Index i_leaf) const {
    const Index leaf = search.first_leaf + i_leaf;
    Real furthest = 0;
    for (Index i = search.queries.leaf_begin[leaf]; i < Index{search.queries.leaf_end[leaf]}; ++i) {
      const Index row = i - search.first_query;
      const bool full = Index{rows.count[row]} == rows.k;
      const Real last = full ? rows.distance2[(row + 1) * rows.k - 1] : infinity;
      furthest = last > furthest ? last : furthest;
    }
    reach2[i_leaf] = furthest;
  }
};

template <class E, class Real>
void find_reach(const E& exec, const SearchView<Real>& search, const BestRows<Real>& rows,
                Span<Real> reach2) {
  for_each(exec, reach2.size(), FindReach<Real>{search, rows, reach2});
}

/// Marks the leaves that one ball touches. The same arithmetic as in the searches: no particle that
/// they would find is missed.
template <class Real>
struct MarkLeaves {
  static constexpr bool long_elements = true;
  static constexpr int max_stack = 512;
  BallsView<Real> view;
  Span<std::uint8_t> marks;

  ZHALO_HD void operator()(Index i) const {
    const Ball<Real>& ball = view.balls[i];
    std::uint32_t nodes[max_stack];
    std::uint8_t levels[max_stack];
    int height = 0;
    const int top = view.tree.num_levels - 1;
    for (Index node = 0; node < view.tree.level_size[top]; ++node)
      height += visit(ball, top, node, nodes + height, levels + height);
    while (height > 0) {
      --height;
      const int level = levels[height] - 1;
      const Index first = Index{nodes[height]} * view.tree.fanout;
      for (Index node = first; node < first + view.tree.fanout; ++node)
        height += visit(ball, level, node, nodes + height, levels + height);
    }
  }

 private:
  /// Marks a leaf or remembers a node, if the ball touches it; returns how many were remembered.
  ZHALO_HD int visit(const Ball<Real>& ball, int level, Index node, std::uint32_t* node_to,
                     std::uint8_t* plane_to) const {
    if (!touches(ball, view.tree.level_first[level] + node)) return 0;
    if (level == 0) {
      atomic_store(marks[node], std::uint8_t{1});
      return 0;
    }
    *node_to = static_cast<std::uint32_t>(node);
    *plane_to = static_cast<std::uint8_t>(level);
    return 1;
  }

  ZHALO_HD bool touches(const Ball<Real>& ball, Index at) const {
    const BoxesView<Real>& boxes = view.tree.boxes;
    if (!(boxes.lo[0][at] <= boxes.hi[0][at])) return false;
    Real d[3];
    for (int axis = 0; axis < 3; ++axis) {
      const Real lo = boxes.lo[axis][at];
      const Real hi = boxes.hi[axis][at];
      const Real direct = larger(lo - ball.hi[axis], ball.lo[axis] - hi);
      const Real image =
          view.period[axis] - (larger(hi, ball.hi[axis]) - smaller(lo, ball.lo[axis]));
      d[axis] = larger(smaller(direct, image), Real{0});
    }
    return fused(d[2], d[2], fused(d[1], d[1], d[0] * d[0])) <= ball.reach2;
  }

  ZHALO_HD static Real larger(Real a, Real b) { return a > b ? a : b; }
  ZHALO_HD static Real smaller(Real a, Real b) { return a < b ? a : b; }
};

struct ForgetMark {
  Span<std::uint8_t> marks;
  ZHALO_HD void operator()(Index i) const { marks[i] = 0; }
};

/// Counts the particles of marked leaves or, after a scan, writes their places.
template <class Real>
struct ListMarked {
  TreeView<Real> tree;
  Span<const std::uint8_t> marks;
  Span<Index> counts;
  Span<LocalIndex> selected;  ///< empty: count

  ZHALO_HD void operator()(Index leaf) const {
    const LocalIndex begin = tree.leaf_begin[leaf];
    const LocalIndex num = marks[leaf] != 0 ? tree.leaf_end[leaf] - begin : 0;
    if (selected.empty()) {
      counts[leaf] = num;
      return;
    }
    for (LocalIndex i = 0; i < num; ++i) selected[counts[leaf] + i] = begin + i;
  }
};

template <class E, class Real>
Buffer<LocalIndex> select_in_balls(const E& exec, const BallsView<Real>& view) {
  const Index num_leaves = view.tree.level_size[0];
  Buffer<std::uint8_t> marks(exec, num_leaves, "leaves to send");
  Buffer<Index> counts(exec, num_leaves, "leaves to send");
  for_each(exec, num_leaves, ForgetMark{marks.span()});
  for_each(exec, view.balls.size(), MarkLeaves<Real>{view, marks.span()});
  const Span<const std::uint8_t> marked = marks.span();
  for_each(exec, num_leaves, ListMarked<Real>{view.tree, marked, counts.span(), {}});
  const Index num = exclusive_scan(exec, counts.span());
  Buffer<LocalIndex> selected(exec, num, "particles to send");
  if (num > 0)
    for_each(exec, num_leaves, ListMarked<Real>{view.tree, marked, counts.span(), selected.span()});
  return selected;
}

/// The rank that each received element came from, and its place there.
struct FindOrigin {
  SourcesView sources;
  Span<const LocalIndex> order;
  Span<const Index> global_index;
  Span<ParticleLocation> origins;

  ZHALO_HD void operator()(Index i) const {
    Index low = 0;
    Index high = sources.first.size() - 1;
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (sources.receive_offset[middle] <= Index{order[i]}) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    origins[i] = {static_cast<std::int32_t>(low),
                  static_cast<LocalIndex>(global_index[i] - sources.first[low])};
  }
};

template <class E>
void find_origins(const E& exec, const SourcesView& sources, Span<const LocalIndex> order,
                  Span<const Index> global_index, Span<ParticleLocation> origins) {
  for_each(exec, origins.size(), FindOrigin{sources, order, global_index, origins});
}

}  // namespace zhalo::kernels
