/// Searches for neighbours on small trees for the lanes tests: everything that the kernels need,
/// and their rows as tables.
#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/lanes/emulated_lanes.hpp"
#include "tests/lanes/small_tree.hpp"
#include "tests/support/run_knn.hpp"

namespace zhalo::testing {

/// Rows of k neighbours in memory of their own.
template <class Real>
struct OwnRows {
  std::vector<Real> distance2;
  std::vector<LocalIndex> index;
  std::vector<LocalIndex> count;
  kernels::BestRows<Real> rows;

  OwnRows(Index num, Index k)
      : distance2(static_cast<std::size_t>(num * k), -1),
        index(static_cast<std::size_t>(num * k), 12345),
        count(static_cast<std::size_t>(num), 12345),
        rows{k, distance2.data(), index.data(), count.data(), false} {}
};

/// The particles of one or two point sets, and queries (or the particles of the first set). Global
/// indices count the first set, then the second.
template <class Real>
class SmallSearch {
 public:
  SmallSearch(const PointSet<Real>& points, const PointSet<Real>* queries, int leaf_size)
      : tree_(points, leaf_size), box_(points.box) {
    if (queries != nullptr) queries_.emplace(*queries, leaf_size);
    add_indices(tree_, 0);
  }
  /// The second half, searched after the first.
  void add(const PointSet<Real>& more, int leaf_size) {
    more_.emplace(more, leaf_size);
    const auto first = static_cast<Index>(tree_.order().size());
    num_own_ = first;
    add_indices(*more_, first);
  }

  const Host& exec() const { return tree_.exec(); }
  Index num_queries() const { return asked().order().size(); }
  Index num_leaves() const { return asked().tree().level_size[0]; }
  SearchColumn<Index> global_index() const {
    return {index_.data(), index_.data() + num_own_, static_cast<LocalIndex>(num_own_)};
  }

  kernels::SearchView<Real> view(const Wanted& wanted, bool in_more = false) {
    const SmallTree<Real>& searched = in_more ? *more_ : tree_;
    kernels::SearchView<Real> search;
    search.tree = searched.tree();
    search.queries = asked().tree();
    search.queries_are_particles = !queries_ && !in_more;
    search.leave_out_self = search.queries_are_particles && !wanted.include_self;
    search.global_index = global_index();
    search.first_local_index = in_more ? static_cast<LocalIndex>(num_own_) : 0;
    set_space(search);
    const auto is_within = [&](Real r2) {
      return static_cast<double>(std::sqrt(r2)) <= wanted.max_radius;
    };
    search.reach2 = static_cast<Real>(wanted.max_radius * wanted.max_radius);
    while (search.reach2 > 0 && !is_within(search.reach2))
      search.reach2 = std::nextafter(search.reach2, Real{0});
    for (Real more = search.reach2; std::isfinite(more) && is_within(more);
         more = std::nextafter(more, std::numeric_limits<Real>::infinity()))
      search.reach2 = more;
    const int top = search.tree.num_levels - 1;
    std::vector<Index>& smallest = smallest_[in_more ? 1 : 0];
    smallest.resize(
        static_cast<std::size_t>(search.tree.level_first[top] + search.tree.level_size[top]));
    kernels::find_smallest_indices(exec(), search,
                                   {smallest.data(), static_cast<Index>(smallest.size())});
    search.smallest_index = {smallest.data(), static_cast<Index>(smallest.size())};
    search.work = &work_;
    return search;
  }

  /// Rows in the order of the queries in their point set.
  NeighbourTable<Real> table(const OwnRows<Real>& own) const {
    NeighbourTable<Real> table(static_cast<std::size_t>(num_queries()));
    for (Index row = 0; row < num_queries(); ++row) {
      for (Index i = 0; i < Index{own.count[static_cast<std::size_t>(row)]}; ++i) {
        const auto at = static_cast<std::size_t>(row * own.rows.k + i);
        table[asked().order()[row]].push_back(
            {std::sqrt(own.distance2[at]), global_index()[own.index[at]]});
      }
    }
    return table;
  }
  NeighbourTable<Real> table(const kernels::WithinRows<Real>& rows) const {
    NeighbourTable<Real> table(static_cast<std::size_t>(num_queries()));
    for (Index row = 0; row < num_queries(); ++row) {
      for (Index at = rows.offset[row]; at < rows.offset[row + 1]; ++at)
        table[asked().order()[row]].push_back(
            {std::sqrt(rows.distance2[at]), global_index()[rows.local_index[at]]});
    }
    return table;
  }

 private:
  const SmallTree<Real>& asked() const { return queries_ ? *queries_ : tree_; }

  void add_indices(const SmallTree<Real>& tree, Index first) {
    for (Index i = 0; i < tree.order().size(); ++i)
      index_.push_back(first + Index{tree.order()[i]});
    if (first == 0) num_own_ = tree.order().size();
  }

  void set_space(kernels::SearchView<Real>& search) const {
    for (int axis = 0; axis < 3; ++axis) {
      constexpr Real infinity = std::numeric_limits<Real>::infinity();
      const bool periodic = axis < box_.dimensions && box_.periodic[axis];
      search.period[axis] = periodic ? static_cast<Real>(box_.length[axis]) : infinity;
      search.edge_lo[axis] = periodic ? static_cast<Real>(box_.lo[axis] + 1e-5) : -infinity;
      search.edge_hi[axis] =
          periodic ? static_cast<Real>(box_.lo[axis] + box_.length[axis] - 1e-5) : infinity;
    }
  }

  SmallTree<Real> tree_;
  std::optional<SmallTree<Real>> queries_;
  std::optional<SmallTree<Real>> more_;
  Box box_;
  std::vector<Index> index_;
  Index num_own_ = 0;
  std::vector<Index> smallest_[2];
  kernels::SearchWork work_;
};

}  // namespace zhalo::testing
