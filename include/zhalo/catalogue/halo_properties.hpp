/// The properties of each halo in a catalogue, and how files show them.
#pragma once

#include <variant>

#include "zhalo/core/types.hpp"

namespace zhalo {

/// One halo with members i, their masses m_i, positions r_i and velocities v_i. Lengths are in the
/// unit of the positions. Masses and velocities are in the units in which they were given. In a
/// periodic box, r - c is the vector to the nearest image.
///
/// To add a property, add a member here, a row of halo_columns below, and a sum and formula in
/// kernels/common/catalogue/halo_sums.inl.hpp.
struct HaloProperties {
  double mass = 0;  ///< M = sum m
  Vec3d centre;     ///< c = sum m r / M, inside the box
  Vec3d velocity;   ///< V = sum m v / M; NaN if a member has no finite velocity
  /// sqrt(sum m |v - V|^2 / (M D)) in D dimensions: along one axis. NaN as the velocity.
  double velocity_dispersion = 0;
  double rms_radius = 0;  ///< sqrt(sum m |r - c|^2 / M)
  double max_radius = 0;  ///< max |r - c|
};

/// A dataset of /Group: which property it shows, its name, unit and description. Where velocities
/// are not known, a property with a power of velocity is NaN, and files leave it out.
struct HaloColumn {
  std::variant<double HaloProperties::*, Vec3d HaloProperties::*> property;
  const char* dataset;
  UnitPowers unit;
  const char* text;
};

inline constexpr HaloColumn halo_columns[] = {
    {&HaloProperties::mass, "GroupMass", {.mass = 1}, "Mass of all members"},
    {&HaloProperties::centre, "GroupPos", {.length = 1}, "Centre of mass"},
    {&HaloProperties::centre, "GroupCM", {.length = 1}, "Centre of mass"},
    {&HaloProperties::velocity,
     "GroupVel",
     {.velocity = 1, .scale_factor = 1},
     "Mass-weighted mean peculiar velocity times the scale factor"},
    {&HaloProperties::velocity,
     "GroupVelPeculiar",
     {.velocity = 1},
     "Mass-weighted mean peculiar velocity"},
    {&HaloProperties::velocity_dispersion,
     "GroupVelDispersion",
     {.velocity = 1},
     "Mass-weighted dispersion of peculiar velocities along one axis"},
    {&HaloProperties::rms_radius,
     "GroupInertiaRadius",
     {.length = 1},
     "Mass-weighted rms distance from the centre of mass"},
    {&HaloProperties::max_radius,
     "GroupExtentRadius",
     {.length = 1},
     "Largest distance of a member from the centre of mass"},
};

}  // namespace zhalo
