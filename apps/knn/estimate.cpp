#include <algorithm>

#include "apps/knn/reductions.hpp"
#include "apps/knn/summary.hpp"

namespace zhalo::knn_app {
namespace {

/// Bytes per particle of the search at its peak, beyond the columns: keys, orders, sorted positions, tree.
std::size_t search_bytes(std::size_t real_bytes, int ranks) { return 40 + 6 * real_bytes + (ranks > 1 ? 32 : 0); }

/// The lists of a chunk, their buffers, and what goes with each rank.
constexpr std::size_t rank_bytes = 128 << 20;

/// Of a file, with room for its groups and attributes.
constexpr std::size_t header_bytes = 64 << 10;

/// Of a query's row in the results.
std::size_t row_bytes(const Summary& summary, std::size_t real_bytes) {
  const std::size_t list = static_cast<std::size_t>(summary.options.k) * (real_bytes + sizeof(Index));
  return (summary.options.lists ? list : 0) + summary.options.reductions.size() * sizeof(double);
}

std::size_t columns_bytes(const Summary& summary, std::size_t real_bytes) {
  const std::size_t velocity = any_needs_velocities(summary.options) ? 3 * real_bytes : 0;
  const std::size_t mass = any_needs_masses(summary.options) ? real_bytes : 0;
  return 3 * real_bytes + velocity + mass;
}

}  // namespace

Estimate estimate_needs(const Summary& summary) {
  const std::size_t real_bytes = summary.double_positions ? sizeof(double) : sizeof(float);
  const auto particles = static_cast<std::size_t>(summary.num_particles);
  const auto queries = static_cast<std::size_t>(summary.num_queries);
  const auto ranks = static_cast<std::size_t>(summary.places.num_ranks);
  const std::size_t search = search_bytes(real_bytes, summary.places.num_ranks);
  const std::size_t results = queries * row_bytes(summary, real_bytes);
  Estimate estimate;
  estimate.output = results + static_cast<std::size_t>(summary.num_files) * header_bytes;
  estimate.memory = results + particles * (columns_bytes(summary, real_bytes) + search) + ranks * rank_bytes;
  if (summary.query) estimate.memory += queries * (3 * real_bytes + search);
  estimate.memory_per_rank = (estimate.memory + ranks - 1) / ranks;
  return estimate;
}

}  // namespace zhalo::knn_app
