#include "zhalo/catalogue/lost_digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "kernels/catalogue.hpp"

namespace zhalo {
namespace {

constexpr double max_error = 1e-6;

using Columns = std::array<LostDigits, 3>;

void note(LostDigits& column, double typical) {
  ++column.num_groups;
  column.typical = std::max(column.typical, typical);
}

/// Of a group at rest nothing can be said by itself, nor of one without an extent.
void examine_group(const HaloProperties& halo, Index length, Columns& columns) {
  auto& [masses, positions, velocities] = columns;
  const double resolution = kernels::resolution_of(length);
  const double cut = 1 / (resolution * resolution);
  const double mass = halo.mass / static_cast<double>(length);
  const double of_mass = mass / masses.largest;
  const Vec3d& v = halo.velocity;
  const double rms_velocity = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] +
                                        3 * halo.velocity_dispersion * halo.velocity_dispersion);
  bool is_mass = !(of_mass * max_error > cut);
  const auto look = [&](LostDigits& column, double typical) {
    const double part = typical / column.largest;
    const double square = part * part;  // sums of squares lose most
    if (!(square > 0) || of_mass * square * max_error > cut) return;
    if (of_mass >= square) return note(column, typical);
    is_mass = true;
  };
  look(positions, halo.max_radius);
  look(velocities, rms_velocity);
  if (is_mass) note(masses, mass);
}

/// Groups on this rank that seem to be at rest.
Index num_at_rest(const Catalogue& catalogue) {
  const auto rests = [](const HaloProperties& halo) {
    const Vec3d& v = halo.velocity;
    return v[0] == 0 && v[1] == 0 && v[2] == 0 && halo.velocity_dispersion == 0;
  };
  return std::count_if(catalogue.properties.begin(), catalogue.properties.end(), rests);
}

}  // namespace

std::vector<LostDigits> find_lost_digits(const Communicator& comm, const Catalogue& catalogue) {
  Columns columns{{{LostDigits::Of::masses, 0, catalogue.largest.mass, 0},
                   {LostDigits::Of::positions, 0, catalogue.largest.length, 0},
                   {LostDigits::Of::velocities, 0, catalogue.largest.velocity, 0}}};
  for (std::size_t g = 0; g < catalogue.properties.size(); ++g)
    examine_group(catalogue.properties[g], catalogue.length[g], columns);
  for (LostDigits& column : columns) {
    column.num_groups = comm.sum(column.num_groups);
    column.typical = comm.max(column.typical);
  }
  // If others lose digits, or there are no others though some particle moves, those of the groups
  // at rest were all lost.
  const Index at_rest = comm.sum(num_at_rest(catalogue));
  LostDigits& velocities = columns[2];
  if (velocities.num_groups > 0 ||
      (velocities.largest > 0 && at_rest == catalogue.num_groups_total))
    velocities.num_groups += at_rest;
  std::vector<LostDigits> lost;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(lost),
               [](const LostDigits& column) { return column.num_groups > 0; });
  return lost;
}

}  // namespace zhalo
