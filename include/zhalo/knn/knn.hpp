/// The k nearest neighbours of each query, exactly.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "zhalo/core/box.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/neighbours.hpp"
#include "zhalo/domain/domain.hpp"

namespace zhalo {

/// Most neighbours that can be asked for.
inline constexpr int max_neighbours = 4096;

struct KnnOptions {
  /// Neighbours per query, 1 to max_neighbours.
  int k = 8;
  /// Among the particles themselves: each particle is its own nearest neighbour (distance 0).
  /// Queries of their own are never left out.
  bool include_self = true;
  /// Neighbours at distances (as they are reported) <= max_radius only, in the unit of the
  /// positions; must not be negative.
  double max_radius = std::numeric_limits<double>::infinity();
  /// Particles per tree leaf, 1 to 64: changes the speed, never the neighbours.
  int leaf_size = 32;
  /// Memory for the lists that exist at a time on each rank; 0: 32 MiB on the host, 512 MiB on a
  /// device. Lists of one leaf always do.
  Index chunk_bytes = 0;
};

/// What the search did on this rank.
struct KnnStatistics {
  Index num_wrapped =
      0;  ///< over all ranks: particles and queries that lay outside a periodic axis
  Index num_particles = 0;   ///< over all ranks
  Index num_queries = 0;     ///< over all ranks
  Index leaves_visited = 0;  ///< by queries: leaves whose particles were tested
  Index pairs_tested = 0;    ///< distances that were computed in them
  Index fetched = 0;         ///< particles that other ranks sent; one may come several times
  Index chunks = 0;          ///< in which the lists were made; the same on all ranks
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

/// Species of a domain: those that are searched from, and those to search among.
struct KnnSpecies {
  int queries = 0;
  int targets = 0;
};

enum class RowOrder {
  caller,  ///< one row per query of this rank, in the caller's order
  domain   ///< as the search has them: queries along the Z-order, in even parts over the ranks; see
           ///< KnnResult::query
};

/// What is wanted of each neighbour.
struct KnnOutput {
  bool distances = true;
  bool indices = true;
  bool locations = false;
  std::vector<ColumnView> columns{};  ///< of the particles: the neighbours' values
  RowOrder order = RowOrder::caller;
};

/// Rows of k neighbours, one per query, nearest first; equal distances in the order of global
/// indices. Rows with fewer than k neighbours are filled up with distance infinity, index -1, rank
/// -1 (all bits set), and zero bytes in columns. Memory of the context's Exec; what was not asked
/// for is empty.
template <class Real>
struct KnnResult {
  Index num_rows = 0;
  int k = 0;
  Buffer<Real> distance;              ///< (num_rows, k)
  Buffer<Index> index;                ///< (num_rows, k): global indices of particles
  Buffer<ParticleLocation> location;  ///< (num_rows, k)
  std::vector<Buffer<std::byte>> columns;
  Buffer<Index> query;  ///< RowOrder::domain: global index of each row's query
  KnnStatistics statistics;

  /// Column number i of the output, (num_rows, k) elements.
  template <class T>
  Span<const T> column(int i) const {
    const Buffer<std::byte>& bytes = columns.at(static_cast<std::size_t>(i));
    return {reinterpret_cast<const T*>(bytes.data()), num_rows * k};
  }
};

/// Finds the k nearest particles of every particle.
///
/// Collective. Particles may be in any order, on any rank; they are not changed. Distances are
/// computed in the positions' own precision, to the nearest periodic image, as sqrt(fma(z, z,
/// fma(y, y, x * x))). Neighbours are ordered by squared distance, then by global index. Results
/// are equal bit for bit for any number of ranks and threads and on any backend. A particle beyond
/// a periodic edge is moved inside first. Throws InputError for k outside 1..max_neighbours,
/// max_radius negative or NaN, positions that are not finite or lie outside a box without
/// periodicity, options or columns that differ between ranks; OutOfMemory.
template <class Real>
KnnResult<Real> knn(const Context& context, const Particles<Real>& particles, const Box& box,
                    const KnnOptions& options, const KnnOutput& output = {});

/// Finds the k nearest particles of every query point (a coincident particle is a neighbour at
/// distance 0). Queries may lie anywhere where the box is not bounded, and travel as particles do.
template <class Real>
KnnResult<Real> knn(const Context& context, const Queries<Real>& search, const Box& box,
                    const KnnOptions& options, const KnnOutput& output = {});

/// The same in a domain. Only what other ranks need to see is sent, and nothing is sorted. Columns
/// are in the domain's order, and so are the rows (whatever output.order says).
template <class Real>
KnnResult<Real> knn(const Domain<Real>& domain, const KnnOptions& options,
                    const KnnOutput& output = {}, const KnnSpecies& species = {});

}  // namespace zhalo
