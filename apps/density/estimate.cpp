#include "apps/density/summary.hpp"

namespace zhalo::density_app {
namespace {

/// Of a file, with room for its groups and attributes.
constexpr double header_bytes = 64 << 10;
/// Of the program, its libraries and messages.
constexpr double rank_bytes = 48 << 20;

/// While it is painted and transformed, at the peak.
double bytes_per_cell(const Options& options) {
  const bool transforms = !options.power.empty() || options.interlaced || field_compensation(options) != Compensation::none;
  constexpr double field = 4, sums = 8, modes = 4, workspace = 4;
  double bytes = field + sums;
  if (transforms) bytes += modes + workspace;
  if (options.interlaced) bytes += field + modes;
  if (needs_field(options) && !options.power.empty()) bytes += modes;
  return bytes;
}

/// Columns and, with several ranks, the copy that is sent.
double bytes_per_particle(const Summary& summary) {
  const double real = summary.double_positions ? sizeof(double) : sizeof(float);
  const double columns = (summary.options.by_number ? 3 : 4) * real;
  return summary.places.num_ranks > 1 ? 2 * columns : columns;
}

}  // namespace

Estimate estimate_needs(const Summary& summary) {
  const auto cells = static_cast<double>(summary.grid.size());
  const auto particles = static_cast<double>(summary.num_particles);
  const double ranks = summary.places.num_ranks;
  const auto side = static_cast<double>(summary.options.grid);
  const double picture = summary.options.image.empty() ? 0 : 2 * sizeof(double) * side * side;
  Estimate estimate;
  estimate.memory_per_rank =
      (cells * bytes_per_cell(summary.options) + particles * bytes_per_particle(summary)) / ranks + picture + rank_bytes;
  estimate.memory = ranks * estimate.memory_per_rank;
  if (writes_field(summary.options))
    estimate.output = cells * sizeof(float) + static_cast<double>(summary.num_files) * header_bytes;
  return estimate;
}

}  // namespace zhalo::density_app
