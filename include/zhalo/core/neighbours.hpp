/// Neighbours as functors see them, on host and device.
#pragma once

#include <cmath>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// Rank and index of a particle in the caller's memory. Rank -1: no particle.
struct ParticleLocation {
  std::int32_t rank = -1;
  LocalIndex index = 0;  ///< on that rank, counted over its segments
};

/// Values of the particles in a search, by local index: first those of this rank's own particles,
/// then those of particles that other ranks sent.
template <class T>
struct SearchColumn {
  const T* own = nullptr;
  const T* fetched = nullptr;
  LocalIndex num_own = 0;

  ZHALO_HD const T& operator[](LocalIndex i) const {
    return i < num_own ? own[i] : fetched[i - num_own];
  }
};

/// The same without the type of its values; both parts without gaps.
struct SearchColumnView {
  ColumnView own;
  ColumnView fetched;

  template <class T>
  SearchColumn<T> as() const {
    return {static_cast<const T*>(own.data), static_cast<const T*>(fetched.data),
            static_cast<LocalIndex>(own.num)};
  }
};

/// The neighbours of one query, nearest first. Neighbours at equal distances are ordered by global
/// index. A view: valid only while the functor runs.
template <class Real>
struct Neighbours {
  Index num = 0;
  const Real* scaled_distance2 = nullptr;
  const LocalIndex* local_index = nullptr;
  SearchColumn<Index> global_index;
  SearchColumn<Real> pos[3];
  Vec<Real, 3> query_pos;
  Vec3d period;           ///< scaled; infinite on axes that are not periodic
  double unit = 1;        ///< a scaled length times this is in the caller's unit; a power of two
  Index k = 0;            ///< 0: all neighbours within a radius
  Index query_index = 0;  ///< global index of the query, among the queries
  LocalIndex query_local_index = 0;
  bool query_is_particle = false;

  /// Number of neighbours found: k, or fewer if there are fewer (within the radius).
  ZHALO_HD Index size() const { return num; }
  /// k. In a search for all neighbours within a radius: the number found.
  ZHALO_HD Index wanted() const { return k > 0 ? k : num; }
  /// Whether the i-th neighbour is the query itself.
  ZHALO_HD bool is_query(Index i) const {
    return query_is_particle && local_index[i] == query_local_index;
  }
  /// Squared distance, as computed in the precision of the positions.
  ZHALO_HD double distance2(Index i) const {
    return static_cast<double>(scaled_distance2[i]) * unit * unit;
  }
  /// Distance. The square root is taken in the precision of the positions.
  ZHALO_HD double distance(Index i) const {
    return static_cast<double>(static_cast<Real>(sqrt(scaled_distance2[i]))) * unit;
  }
  /// Global index of the neighbour, among the particles.
  ZHALO_HD Index index(Index i) const { return global_index[local_index[i]]; }
  /// Vector from the query to the nearest periodic image of the neighbour.
  ZHALO_HD Vec3d separation(Index i) const {
    Vec3d d;
    for (int axis = 0; axis < 3; ++axis) {
      const double direct =
          static_cast<double>(pos[axis][local_index[i]]) - static_cast<double>(query_pos[axis]);
      const double half = period[axis] / 2;
      d[axis] = (direct > half ? direct - period[axis]
                               : (direct < -half ? direct + period[axis] : direct)) *
                unit;
    }
    return d;
  }
};

/// One particle column, seen at the neighbours of one query.
template <class T>
struct NeighbourColumn {
  SearchColumn<T> column;
  const LocalIndex* local_index = nullptr;
  LocalIndex query_local_index = 0;

  ZHALO_HD const T& operator[](Index i) const { return column[local_index[i]]; }
  /// The query's own value. Only valid in a search of particles among themselves.
  ZHALO_HD const T& of_query() const { return column[query_local_index]; }
};

/// Lists of the neighbours of some queries, one row per query.
template <class Real>
struct NeighbourRows {
  Index num = 0;                    ///< rows
  Index k = 0;                      ///< elements per row; 0: rows of any length
  Span<const Index> row_offset;     ///< if k is 0: first element of each row, and the end
  Span<const LocalIndex> count;     ///< if k is not 0: neighbours found for each row
  Span<const Index> num_within;     ///< if rows are only counted: neighbours of each
  const Real* distance2 = nullptr;  ///< squared distances, scaled
  const LocalIndex* local_index = nullptr;

  const Real* query_pos[3] = {};  ///< from row 0 on
  const Index* query_index = nullptr;
  LocalIndex first_query_local_index = 0;  ///< row 0's local index, if queries are particles
  bool queries_are_particles = false;
  SearchColumn<Index> global_index;
  SearchColumn<Real> pos[3];
  Vec3d period;
  double unit = 1;

  ZHALO_HD Index first(Index row) const { return k == 0 ? row_offset[row] : row * k; }
  ZHALO_HD Index size(Index row) const {
    return k == 0 ? row_offset[row + 1] - row_offset[row] : Index{count[row]};
  }

  ZHALO_HD Neighbours<Real> operator[](Index row) const {
    Neighbours<Real> n;
    n.num = size(row);
    n.scaled_distance2 = distance2 + first(row);
    n.local_index = local_index + first(row);
    n.global_index = global_index;
    for (int axis = 0; axis < 3; ++axis) {
      n.pos[axis] = pos[axis];
      n.query_pos[axis] = query_pos[axis][row];
    }
    n.period = period;
    n.unit = unit;
    n.k = k;
    n.query_index = query_index[row];
    n.query_is_particle = queries_are_particles;
    n.query_local_index = first_query_local_index + static_cast<LocalIndex>(row);
    return n;
  }
};

/// Any number of columns, in one trivially copyable value.
template <class... T>
struct SearchColumns {
  /// An empty struct would take a byte in the arguments of kernels, too, and its value would be
  /// undefined.
  Index unused = 0;
};
template <class First, class... Rest>
struct SearchColumns<First, Rest...> {
  SearchColumn<First> first;
  SearchColumns<Rest...> rest;
};

/// A functor in the arguments of a kernel. It is a base, so that an empty one takes no byte, of
/// which a kernel would be given whatever lies there. ([[no_unique_address]] is no way: where such
/// members are nested, nvcc's code for devices lays them out otherwise than host compilers do.)
template <class Functor, bool can_be_base = std::is_class_v<Functor> && !std::is_final_v<Functor>>
struct HeldFunctor : Functor {
  ZHALO_HD const Functor& functor() const { return *this; }
};
template <class Functor>
struct HeldFunctor<Functor, false> {
  Functor held;
  ZHALO_HD const Functor& functor() const { return held; }
};

/// results[row] = functor(neighbours of the row, each column at these neighbours).
template <class Real, class Functor, class Result, class... Columns>
struct ReduceRow : HeldFunctor<Functor> {
  static constexpr bool long_elements = true;
  NeighbourRows<Real> rows;
  SearchColumns<Columns...> columns;
  Span<Result> results;

  ZHALO_HD void operator()(Index row) const { results[row] = call(rows[row], columns); }

 private:
  template <class First, class... Rest, class... Bound>
  ZHALO_HD Result call(const Neighbours<Real>& near, const SearchColumns<First, Rest...>& left,
                       const Bound&... bound) const {
    return call(near, left.rest, bound...,
                NeighbourColumn<First>{left.first, near.local_index, near.query_local_index});
  }
  template <class... Bound>
  ZHALO_HD Result call(const Neighbours<Real>& near, const SearchColumns<>&,
                       const Bound&... bound) const {
    return this->functor()(near, bound...);
  }
};

/// Calls functor(neighbours of the row, i, each column at these neighbours) for each neighbour i.
template <class Real, class Functor, class... Columns>
struct VisitPairs : HeldFunctor<Functor> {
  NeighbourRows<Real> rows;
  SearchColumns<Columns...> columns;

  ZHALO_HD void operator()(Index row) const { visit(rows[row], columns); }

 private:
  template <class First, class... Rest, class... Bound>
  ZHALO_HD void visit(const Neighbours<Real>& near, const SearchColumns<First, Rest...>& left,
                      const Bound&... bound) const {
    visit(near, left.rest, bound...,
          NeighbourColumn<First>{left.first, near.local_index, near.query_local_index});
  }
  template <class... Bound>
  ZHALO_HD void visit(const Neighbours<Real>& near, const SearchColumns<>&,
                      const Bound&... bound) const {
    for (Index i = 0; i < near.size(); ++i) this->functor()(near, i, bound...);
  }
};

}  // namespace zhalo
