/// The k nearest neighbours of each query, exactly.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/neighbours.hpp"
#include "zhalo/core/reductions.hpp"
#include "zhalo/core/types.hpp"
#include "zhalo/domain/domain.hpp"

namespace zhalo {

/// Largest value of k.
inline constexpr int max_neighbours = 4096;

struct KnnOptions {
  /// Neighbours per query, 1 to max_neighbours.
  int k = 8;
  /// For searches of particles among themselves: each particle is a neighbour of its own, at
  /// distance 0. Has no effect on query points.
  bool include_self = true;
  /// Only neighbours at distances (as they are reported) <= max_radius, in the unit of the
  /// positions; must not be negative.
  double max_radius = std::numeric_limits<double>::infinity();
  /// Particles per tree leaf, 1 to 64. It changes the speed, never the neighbours.
  int leaf_size = 32;
  /// Memory in bytes for the lists that a rank holds at a time. 0: 16 MiB on the host, 512 MiB on a
  /// device. The lists of one leaf are always held together, even if they need more.
  Index chunk_bytes = 0;
};

/// What the search did on this rank.
struct KnnStatistics {
  /// Particles and queries over all ranks that were outside a periodic axis.
  Index num_wrapped = 0;
  Index num_particles = 0;   ///< over all ranks
  Index num_queries = 0;     ///< over all ranks
  Index leaves_visited = 0;  ///< leaves whose particles were tested, summed over queries
  Index pairs_tested = 0;    ///< distances computed in these leaves
  Index fetched = 0;         ///< particles received from other ranks; some several times
  Index chunks = 0;          ///< chunks of lists; the same on all ranks
  Index bytes_sent = 0;      ///< to other ranks
};

/// Query points and the particles to search. Views: both must outlive the call.
///
///   knn(context, Queries{queries, particles}, box, {.k = 8})
template <class Real>
struct Queries {
  const Particles<Real>& queries;
  const Particles<Real>& particles;
};
template <class Real>
Queries(const Particles<Real>&, const Particles<Real>&) -> Queries<Real>;

/// Two species of a domain: the queries, and the targets among which neighbours are searched.
struct KnnSpecies {
  int queries = 0;
  int targets = 0;
};

/// The particles to search and the queries: the caller's, or species of a domain.
template <class Real>
struct KnnTargets {
  const Particles<Real>* particles = nullptr;
  const Particles<Real>* queries = nullptr;  ///< null: the particles themselves
  const Domain<Real>* domain = nullptr;      ///< instead of both
  KnnSpecies species{};

  KnnTargets(const Particles<Real>& all) : particles(&all) {}
  KnnTargets(const Queries<Real>& both) : particles(&both.particles), queries(&both.queries) {}
  KnnTargets(const Domain<Real>& all, const KnnSpecies& which) : domain(&all), species(which) {}

  bool has_queries() const {
    return domain != nullptr ? species.queries != species.targets : queries != nullptr;
  }
  /// Number of this rank's particles that may be neighbours. Columns have one element for each.
  Index num_particles() const {
    return domain != nullptr ? domain->num(species.targets) : particles->num();
  }
  /// Number of this rank's queries. Results are in their order.
  Index num_queries() const {
    if (domain != nullptr) return domain->num(species.queries);
    return queries == nullptr ? particles->num() : queries->num();
  }
};

enum class RowOrder {
  caller,  ///< one row per query of this rank, in the caller's order
  /// The order of the search: queries along the Z-order, in even parts over the ranks.
  /// KnnResult::query has the query of each row.
  domain
};

/// What to return for each neighbour, and for each query.
struct KnnOutput {
  bool distances = true;
  bool indices = true;
  bool locations = false;
  std::vector<ColumnView> columns{};  ///< columns of the particles: their values at the neighbours
  /// Numbers of each query, computed from its neighbours. All are found in one search, with the
  /// masses and velocities that the particles have. InputError for a mass that is negative or not
  /// finite, if masses count.
  std::vector<QuantityOptions> quantities{};
  RowOrder order = RowOrder::caller;
};

/// What column number i holds: `num` elements of so many bytes; InputError unless it does.
const std::byte* bytes_of_column(const std::vector<Buffer<std::byte>>& columns, int i, Index num,
                                 Index element_size);

/// Rows of k neighbours, one per query, nearest first. Neighbours at equal distances are ordered by
/// global index. If a row has fewer than k neighbours, it ends with distance infinity, index -1,
/// rank -1 (all bits set), and zero bytes in columns. Buffers are in memory of the context's Exec.
/// Those that were not requested are empty.
template <class Real>
struct KnnResult {
  Index num_rows = 0;
  int k = 0;
  Buffer<Real> distance;              ///< (num_rows, k)
  Buffer<Index> index;                ///< (num_rows, k): global indices of particles
  Buffer<ParticleLocation> location;  ///< (num_rows, k)
  std::vector<Buffer<std::byte>> columns;
  std::vector<Buffer<double>> quantities;  ///< (num_rows) each, in the order of the output's
  Buffer<Index> query;                     ///< RowOrder::domain: global index of each row's query
  KnnStatistics statistics;

  /// Column number i of the output, (num_rows, k) elements. InputError if there is no such column,
  /// or its elements have another size.
  template <class T>
  Span<const T> column(int i) const {
    const Index num = num_rows * k;
    return {reinterpret_cast<const T*>(bytes_of_column(columns, i, num, sizeof(T))), num};
  }
};

/// knn() of any targets.
template <class Real>
KnnResult<Real> knn_of(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                       const KnnOptions& options, const KnnOutput& output);

/// Finds the k nearest particles of every particle.
///
/// Collective. Particles may be in any order, on any rank; they are not changed. Distances are
/// computed in the positions' own precision, to the nearest periodic image, as sqrt(fma(z, z,
/// fma(y, y, x * x))). Neighbours are ordered by squared distance, then by global index. Results
/// are equal bit for bit for any number of ranks and threads and on any backend. A particle outside
/// a periodic axis is wrapped first. Throws InputError for k outside 1..max_neighbours, max_radius
/// negative or NaN, positions that count_positions() refuses,
/// velocities that a quantity needs and a segment does not have, and options or columns that differ
/// between ranks; OutOfMemory.
template <class Real>
KnnResult<Real> knn(const Context& context, const Particles<Real>& particles, const Box& box,
                    const KnnOptions& options, const KnnOutput& output = {}) {
  return knn_of<Real>(context, particles, box, options, output);
}

/// Finds the k nearest particles of every query point. A particle at the position of a query is a
/// neighbour at distance 0. Queries may also lie outside a box that is not periodic. Like
/// particles, they may be on any rank.
template <class Real>
KnnResult<Real> knn(const Context& context, const Queries<Real>& among, const Box& box,
                    const KnnOptions& options, const KnnOutput& output = {}) {
  return knn_of<Real>(context, among, box, options, output);
}

/// The same in a domain. Nothing is sorted, and only what other ranks need is sent. Columns and
/// rows are in the domain's order, whatever output.order says. If only quantities are wanted, the
/// result has no `query`, unless output.order is RowOrder::domain.
template <class Real>
KnnResult<Real> knn(const Domain<Real>& domain, const KnnOptions& options,
                    const KnnOutput& output = {}, const KnnSpecies& species = {}) {
  return knn_of<Real>(domain.context(), {domain, species}, domain.box(), options, output);
}

}  // namespace zhalo
