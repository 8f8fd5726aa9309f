/// Neighbours over ranks, compared with brute force. Every rank knows the whole point set, brings a
/// part of it, and looks at its own results.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/mpi/comm/late_context.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/run_knn.hpp"

namespace zhalo::testing {

/// What every particle carries in the tests, made from its global index.
struct Luggage {
  Index twice = 0;
  float third = 0;
  std::int16_t odd = 0;

  friend bool operator==(const Luggage& a, const Luggage& b) {
    return a.twice == b.twice && a.third == b.third && a.odd == b.odd;
  }
};
inline Luggage luggage_of(Index i) {
  return {2 * i + 7, static_cast<float>(i) / 3, static_cast<std::int16_t>(i % 91)};
}

/// The part of a point set that one rank brings, with a column.
template <class Real>
struct Part {
  Share share;
  std::vector<Real> rows;
  std::vector<Luggage> luggage;
  int dimensions;

  Part(const Context& context, const PointSet<Real>& points, Cut cut)
      : share(part_of(points.num(), cut, context.comm.rank(), context.comm.size())),
        rows(rows_of(points, share)),
        dimensions(points.box.dimensions) {
    for (Index i = 0; i < share.count; ++i) luggage.push_back(luggage_of(share.first + i));
  }

  Particles<Real> particles() const {
    Particles<Real> view;
    view.dimensions = dimensions;
    view.segments = {ParticleSegment<Real>::interleaved(rows.data(), share.count, dimensions)};
    return view;
  }
  ColumnView column() const { return column_view(luggage); }
};

/// A search, and who brings what.
template <class Real>
struct KnnCase {
  PointSet<Real> points;
  Cut cut = Cut::even;
  std::vector<PointSet<Real>> queries{};  ///< one, or none: the particles themselves
  Cut queries_cut = Cut::even;
  KnnOptions options{};

  Wanted wanted() const { return {options.k, options.include_self, options.max_radius}; }
  const PointSet<Real>& searched() const { return queries.empty() ? points : queries.front(); }
};

/// The ways to cut that differ most; for one rank they are all the same.
inline std::vector<Cut> cuts(const Context& context) {
  if (context.comm.size() == 1) return {Cut::even};
  return {Cut::even, Cut::last_only, Cut::every_second};
}

/// Where particle `index` is.
inline bool is_at(const ParticleLocation& location, Index index, Index num, Cut cut, int size) {
  if (index < 0) return location.rank == -1;
  if (location.rank < 0 || location.rank >= size) return false;
  const Share share = part_of(num, cut, location.rank, size);
  return Index{location.index} < share.count && share.first + Index{location.index} == index;
}

/// Everything in the rows of the queries `query`, compared with brute force; the first fault in
/// words, or nothing.
template <class Real>
std::string fault_in_rows(const Context& context, const KnnCase<Real>& c,
                          const KnnResult<Real>& result, const std::vector<Index>& query) {
  const BruteNeighbours<Real> brute(c.points);
  NeighbourTable<Real> expected;
  for (const Index i : query)
    expected.push_back(c.queries.empty() ? brute.of_particle(i, c.wanted())
                                         : brute.of(c.queries.front(), i, c.wanted()));
  const std::string differs = difference(table_of(context.exec, result), expected);
  if (!differs.empty()) return differs;
  const std::vector<Real> distance = to_host(context.exec, result.distance);
  const std::vector<Index> index = to_host(context.exec, result.index);
  const std::vector<ParticleLocation> location = to_host(context.exec, result.location);
  const std::vector<Luggage> luggage = to_host(context.exec, result.template column<Luggage>(0));
  for (std::size_t row = 0; row < expected.size(); ++row) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.options.k); ++i) {
      const std::size_t at = row * static_cast<std::size_t>(c.options.k) + i;
      const bool is_filler = i >= expected[row].size();
      const std::string where = fmt::format("row {}, neighbour {}: ", row, i);
      if (is_filler && (index[at] != -1 || distance[at] != std::numeric_limits<Real>::infinity()))
        return where + "no filler";
      if (!is_at(location[at], index[at], c.points.num(), c.cut, context.comm.size()))
        return where + "wrong location";
      const Luggage carried = is_filler ? Luggage{0, 0, 0} : luggage_of(index[at]);
      if (!(luggage[at] == carried)) return where + "wrong column";
    }
  }
  return {};
}

/// Searches with every output, and compares all of it.
template <class Real>
KnnStatistics check_knn(const Context& context, const KnnCase<Real>& c,
                        RowOrder order = RowOrder::caller) {
  const Part<Real> part(context, c.points, c.cut);
  const Part<Real> queries(context, c.searched(), c.queries.empty() ? c.cut : c.queries_cut);
  KnnOutput output{.locations = true, .columns = {part.column()}, .order = order};
  const KnnResult<Real> result =
      c.queries.empty() ? knn(context, part.particles(), c.points.box, c.options, output)
                        : knn(context, Queries{queries.particles(), part.particles()}, c.points.box,
                              c.options, output);
  const Index num_queries = c.searched().num();
  CHECK(result.k == c.options.k);
  CHECK(result.statistics.num_particles == c.points.num());
  CHECK(result.statistics.num_queries == num_queries);
  std::vector<Index> query;
  if (order == RowOrder::caller) {
    for (Index i = 0; i < queries.share.count; ++i) query.push_back(queries.share.first + i);
    CHECK(result.num_rows == queries.share.count);
  } else {
    query = to_host(context.exec, result.query);
    std::vector<Index> seen(static_cast<std::size_t>(num_queries));
    for (const Index i : query) ++seen.at(static_cast<std::size_t>(i));
    context.comm.sum_in_place({seen.data(), num_queries});
    CHECK(seen == std::vector<Index>(seen.size(), 1));
  }
  CHECK(fault_in_rows(context, c, result, query) == "");
  return result.statistics;
}

}  // namespace zhalo::testing
