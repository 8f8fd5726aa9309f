/// What searches ask of a tree's nodes: smallest indices below them, how far the queries in a leaf
/// reach, and the leaves that balls touch.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/knn.hpp"
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
    Index min_index = largest_index;
    for (Index i = tree.leaf_begin[leaf]; i < Index{tree.leaf_end[leaf]}; ++i) {
      const Index index = global_index[first_local_index + static_cast<LocalIndex>(i)];
      min_index = index < min_index ? index : min_index;
    }
    smallest[leaf] = min_index;
  }
};

template <class Real>
struct SmallestOfNode {
  TreeView<Real> tree;
  int level;
  Span<Index> smallest;

  ZHALO_HD void operator()(Index node) const {
    Index min_index = largest_index;
    for (Index child = node * tree.fanout;
         child < (node + 1) * tree.fanout && child < tree.level_size[level - 1]; ++child) {
      const Index index = smallest[tree.level_first[level - 1] + child];
      min_index = index < min_index ? index : min_index;
    }
    smallest[tree.level_first[level] + node] = min_index;
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

/// Box and reach of each leaf of queries.
template <class Real>
struct MakeBall {
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  ReachingLeaves<Real> leaves;
  Span<Ball<Real>> balls;

  ZHALO_HD void operator()(Index i_leaf) const {
    const SearchView<Real>& search = leaves.search;
    const Index leaf = search.first_leaf + i_leaf;
    Ball<Real> ball;
    for (int axis = 0; axis < 3; ++axis) {
      ball.lo[axis] = search.queries.boxes.lo[axis][leaf];
      ball.hi[axis] = search.queries.boxes.hi[axis][leaf];
    }
    ball.reach2 = leaves.rows.count == nullptr ? search.reach2 : reach_of_rows(leaf);
    balls[i_leaf] = ball;
  }

 private:
  ZHALO_HD Real reach_of_rows(Index leaf) const {
    const SearchView<Real>& search = leaves.search;
    const BestRows<Real>& rows = leaves.rows;
    Real furthest = 0;
    for (Index i = search.queries.leaf_begin[leaf]; i < Index{search.queries.leaf_end[leaf]}; ++i) {
      const Index row = i - search.first_query;
      const bool full = Index{rows.count[row]} == rows.k;
      const Real last = full ? rows.distance2[(row + 1) * rows.k - 1] : search.reach2;
      furthest = last > furthest ? last : furthest;
    }
    return furthest;
  }
};

/// Whether a ball reaches into a hull. It decides for a few too many: the host looks at each ball
/// once more, box by box.
template <class Real>
struct ReachesHull {
  static constexpr double margin = 1e-4;  ///< far more than rounding, of this and of distances
  /// Squares of distances below its root are rounded to any number below it, also to 0.
  static constexpr double smallest = std::numeric_limits<Real>::min();
  Span<const Ball<Real>> balls;
  Span<const CoarseBox> hulls;
  Span<const CoarseBox> group_hulls;
  double period[3];
  double slack;  ///< of coordinates

  ZHALO_HD bool operator()(Index i) const {
    const Ball<Real>& ball = balls[i];
    if (!(ball.lo[0] <= ball.hi[0])) return false;  // no queries
    const double reach = sqrt(static_cast<double>(ball.reach2)) * (1 + margin) + slack;
    const double reach2 = reach * reach + smallest;
    CoarseBox box;
    for (int axis = 0; axis < 3; ++axis) {
      box.lo[axis] = static_cast<double>(ball.lo[axis]);
      box.hi[axis] = static_cast<double>(ball.hi[axis]);
    }
    for (Index group = 0; group < group_hulls.size(); ++group) {
      if (gap2(box, group_hulls[group], period) > reach2) continue;
      const Index first = group * hulls_of_group;
      for (Index hull = first; hull < first + hulls_of_group && hull < hulls.size(); ++hull)
        if (gap2(box, hulls[hull], period) <= reach2) return true;
    }
    return false;
  }
};

template <class Real>
struct TakeBall {
  Span<const Ball<Real>> balls;
  Span<const LocalIndex> at;
  Span<Ball<Real>> to;

  ZHALO_HD void operator()(Index i) const { to[i] = balls[at[i]]; }
};

template <class E, class Real>
Buffer<Ball<Real>> select_balls(const E& exec, const ReachingLeaves<Real>& leaves) {
  Buffer<Ball<Real>> all(exec, leaves.num_leaves, "reach of queries");
  for_each(exec, leaves.num_leaves, MakeBall<Real>{leaves, all.span()});
  const Span<const Ball<Real>> balls = all.span();
  ReachesHull<Real> reaches{balls, leaves.hulls, leaves.group_hulls, {}, 0};
  for (int axis = 0; axis < 3; ++axis) {
    const double period = static_cast<double>(leaves.search.period[axis]);
    reaches.period[axis] = period;
    const double rounding = period * 16 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    if (std::isfinite(period) && rounding > reaches.slack) reaches.slack = rounding;
  }
  const Buffer<LocalIndex> at = select(exec, leaves.num_leaves, reaches);
  Buffer<Ball<Real>> selected(exec, at.size(), "reach of queries");
  for_each(exec, at.size(), TakeBall<Real>{balls, at.span(), selected.span()});
  return selected;
}

/// Marks the leaves that one ball touches. The same arithmetic as in the searches: no particle that
/// they would find is missed.
template <class Real>
struct MarkLeaves {
  static constexpr bool long_elements = true;
  BallsView<Real> view;
  Span<std::uint8_t> marks;

  ZHALO_HD void operator()(Index i) const {
    const Ball<Real>& ball = view.balls[i];
    std::uint32_t stack[max_stack];
    int height = 0;
    const int top = view.tree.num_levels - 1;
    ZHALO_EXPECT(view.tree.level_size[top] <= max_stack);
    for (Index node = 0; node < view.tree.level_size[top]; ++node)
      height += visit(ball, top, node, stack + height);
    while (height > 0) {
      const std::uint32_t entry = stack[--height];
      const int level = static_cast<int>(entry >> plane_shift) - 1;
      const Index first = Index{entry & ((std::uint32_t{1} << plane_shift) - 1)} * view.tree.fanout;
      for (Index node = first; node < first + view.tree.fanout; ++node) {
        ZHALO_EXPECT(height < max_stack);
        height += visit(ball, level, node, stack + height);
      }
    }
  }

 private:
  // A device keeps this for each of its threads: it should be small. As in TreeLanes::push.
  static constexpr int max_stack = 288;
  static constexpr int plane_shift = 28;  ///< of an entry: the level above, the node below

  /// Marks a leaf or remembers a node, if the ball touches it; returns how many were remembered.
  ZHALO_HD int visit(const Ball<Real>& ball, int level, Index node, std::uint32_t* entry_to) const {
    if (!touches(ball, view.tree.level_first[level] + node)) return 0;
    if (level == 0) {
      atomic_store(marks[node], std::uint8_t{1});
      return 0;
    }
    ZHALO_EXPECT(level < 16 && node < Index{1} << plane_shift);
    *entry_to = static_cast<std::uint32_t>(level) << plane_shift | static_cast<std::uint32_t>(node);
    return 1;
  }

  ZHALO_HD bool touches(const Ball<Real>& ball, Index at) const {
    const BoxesView<Real>& boxes = view.tree.boxes;
    if (!(boxes.lo[0][at] <= boxes.hi[0][at])) return false;
    Real d[3];
    for (int axis = 0; axis < 3; ++axis) {
      d[axis] = gap_between<Real>({ball.lo[axis], ball.hi[axis]},
                                  {boxes.lo[axis][at], boxes.hi[axis][at]}, view.period[axis]);
    }
    return fused(d[2], d[2], fused(d[1], d[1], d[0] * d[0])) <= ball.reach2;
  }
};

/// Counts the particles of marked leaves or, after a scan, writes their indices.
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
  fill(exec, marks.span(), std::uint8_t{0});
  for_each(exec, view.balls.size(), MarkLeaves<Real>{view, marks.span()});
  const Span<const std::uint8_t> marked = marks.span();
  for_each(exec, num_leaves, ListMarked<Real>{view.tree, marked, counts.span(), {}});
  const Index num = exclusive_scan(exec, counts.span());
  Buffer<LocalIndex> selected(exec, num, "particles to send");
  if (num > 0)
    for_each(exec, num_leaves, ListMarked<Real>{view.tree, marked, counts.span(), selected.span()});
  return selected;
}

ZHALO_INSTANTIATE_REALS(find_smallest_indices);
ZHALO_INSTANTIATE_REALS(select_balls);
ZHALO_INSTANTIATE_REALS(select_in_balls);

}  // namespace zhalo::kernels
