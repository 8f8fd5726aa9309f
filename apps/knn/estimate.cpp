#include <algorithm>

#include "apps/knn/plan.hpp"
#include "apps/knn/reductions.hpp"

namespace zhalo::knn_app {
namespace {

/// Bytes per particle of the search at its peak, beyond the columns: keys, orders, sorted
/// positions, tree.
std::size_t search_bytes(std::size_t real_bytes, int ranks) {
  return 40 + 6 * real_bytes + (ranks > 1 ? 32 : 0);
}

/// The lists of a chunk, their buffers, and what goes with each rank.
constexpr std::size_t rank_bytes = 128 << 20;

/// Of a file, with room for its groups and attributes.
constexpr std::size_t header_bytes = 64 << 10;

/// Of a query's row in the results.
std::size_t row_bytes(const Plan& plan, std::size_t real_bytes) {
  const std::size_t list = static_cast<std::size_t>(plan.options.k) * (real_bytes + sizeof(Index));
  return (plan.options.lists ? list : 0) + plan.options.reductions.size() * sizeof(double);
}

std::size_t columns_bytes(const Plan& plan, std::size_t real_bytes) {
  const std::size_t velocity = any_needs_velocities(plan.options) ? 3 * real_bytes : 0;
  const std::size_t mass = any_needs_masses(plan.options) ? real_bytes : 0;
  return 3 * real_bytes + velocity + mass;
}

}  // namespace

Estimate estimate_needs(const Plan& plan) {
  const std::size_t real_bytes = plan.double_positions ? sizeof(double) : sizeof(float);
  const auto particles = static_cast<std::size_t>(plan.num_particles);
  const auto queries = static_cast<std::size_t>(plan.num_queries);
  const auto ranks = static_cast<std::size_t>(plan.ranks.num_ranks);
  const std::size_t search = search_bytes(real_bytes, plan.ranks.num_ranks);
  const std::size_t results = queries * row_bytes(plan, real_bytes);
  Estimate estimate;
  estimate.output = results + static_cast<std::size_t>(plan.num_files) * header_bytes;
  estimate.memory =
      results + particles * (columns_bytes(plan, real_bytes) + search) + ranks * rank_bytes;
  if (plan.query) estimate.memory += queries * (3 * real_bytes + search);
  estimate.memory_per_rank = (estimate.memory + ranks - 1) / ranks;
  return estimate;
}

}  // namespace zhalo::knn_app
