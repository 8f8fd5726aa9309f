#include <algorithm>

#include "apps/density/plan.hpp"

namespace zhalo::density_app {
namespace {

/// Of a file, with room for its groups and attributes.
constexpr double header_bytes = 64 << 10;
/// Of the program, its libraries and messages.
constexpr double rank_bytes = 48 << 20;

/// While it is painted and transformed, at the peak.
double bytes_per_cell(const Options& options) {
  const bool transforms = !options.power.empty() || options.interlaced ||
                          field_compensation(options) != Compensation::none;
  constexpr double field = 4, sums = 8, modes = 4, workspace = 4;
  double bytes = field + sums;
  if (transforms) bytes += modes + workspace;
  if (options.interlaced) bytes += field + modes;
  if (needs_field(options) && !options.power.empty()) bytes += modes;
  return bytes;
}

double bytes_of_real(const Plan& plan) {
  return plan.double_positions ? sizeof(double) : sizeof(float);
}

/// What is loaded of a particle.
double bytes_per_particle(const Plan& plan) {
  return (plan.options.by_number ? 3 : 4) * bytes_of_real(plan);
}

/// Of a rank that paints so many particles, besides them and the cells (zhalo/mesh/paint.hpp).
double bytes_to_paint(const Plan& plan, double particles) {
  constexpr double max_at_once = 1 << 24, max_sent = 1 << 23;
  if (plan.ranks.num_ranks == 1) return 9 * std::min(particles, max_at_once);
  // Those that are sent, with the order in which they are, and as many that come.
  const double under_way = 3 * bytes_of_real(plan) + sizeof(double);
  return (2 * under_way + sizeof(LocalIndex)) * std::min(particles, max_sent);
}

}  // namespace

Estimate estimate_needs(const Plan& plan) {
  const auto cells = static_cast<double>(plan.grid.size());
  const double ranks = plan.ranks.num_ranks;
  const double particles = static_cast<double>(plan.num_particles) / ranks;
  const auto side = static_cast<double>(plan.options.grid);
  const double picture = plan.options.image.empty() ? 0 : 2 * sizeof(double) * side * side;
  Estimate estimate;
  estimate.memory_per_rank = cells / ranks * bytes_per_cell(plan.options) +
                             particles * bytes_per_particle(plan) +
                             bytes_to_paint(plan, particles) + picture + rank_bytes;
  estimate.memory = ranks * estimate.memory_per_rank;
  if (writes_field(plan.options))
    estimate.output = cells * sizeof(float) + static_cast<double>(plan.num_files) * header_bytes;
  return estimate;
}

}  // namespace zhalo::density_app
