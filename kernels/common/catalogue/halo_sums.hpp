/// What is added up over the members of a halo, and the properties that follow.
///
/// Every sum is a sum of integers. So it does not depend on the order of its terms: not on ranks,
/// threads or blocks.
#pragma once

#include <limits>

#include "kernels/particles.hpp"
#include "zhalo/catalogue/halo_properties.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- sums of integers

/// Terms are below 16 in magnitude. They are cut to whole multiples of 1 / resolution^2, of which
/// two words hold the upper and the lower part. Both stay below 2^62.
struct FixedSum {
  Index high = 0;
  Index low = 0;

  ZHALO_HD void add(double term, double resolution) {
    const double scaled = term * resolution;
    const Index whole = static_cast<Index>(scaled);
    high += whole;
    low += static_cast<Index>((scaled - static_cast<double>(whole)) * resolution);
  }
  ZHALO_HD FixedSum& operator+=(const FixedSum& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
  ZHALO_HD double value(double resolution) const {
    return (static_cast<double>(high) + static_cast<double>(low) / resolution) / resolution;
  }
};

/// For sums over so many members: a power of two, the same wherever a part of them is added.
ZHALO_HD inline double resolution_of(Index num_members) {
  int bits = 58;
  for (Index n = 1; n < num_members; n *= 2) --bits;
  return static_cast<double>(Index{1} << bits);
}

// ---------------------------------------------------------------- members

/// Units of the sums: powers of two above the largest mass, extent and velocity of all particles.
struct HaloUnits {
  double mass = 1;
  double length = 1;
  double velocity = 1;
};

/// How stored particles become members, and sums become properties.
struct HaloFrame {
  KeyFrame frame;  ///< only its box is used
  HaloUnits unit;
  double period[3] = {};  ///< in units of length; 0 where the box is not periodic
  /// A stored coordinate, mass or velocity times this is in its unit. Powers of two.
  double coordinate_to_unit = 1;
  double mass_to_unit = 1;
  double velocity_to_unit = 1;
};

/// What the members of a group are compared with, in HaloUnits.
struct HaloReference {
  Vec3d pos;
  Vec3d velocity;
  Index length = 0;  ///< members of the whole group
};

/// A member, in HaloUnits and relative to the reference.
struct HaloMember {
  double mass;
  Vec3d pos;
  Vec3d velocity;
  int type;

  /// All components of a velocity are below 2: the velocity is known and finite.
  ZHALO_HD bool has_velocity() const {
    return fabs(velocity[0]) <= 2 && fabs(velocity[1]) <= 2 && fabs(velocity[2]) <= 2;
  }
};

ZHALO_HD inline double square(const Vec3d& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

/// The property of a group with a member whose velocity is not known.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// ---------------------------------------------------------------- what is summed

/// The first look at all members: about the position of one of them.
struct Moments {
  FixedSum mass;
  FixedSum pos[3];
  FixedSum velocity[3];
  Index num_without_velocity = 0;

  ZHALO_HD void add(const HaloMember& member, double resolution) {
    mass.add(member.mass, resolution);
    for (int axis = 0; axis < 3; ++axis) pos[axis].add(member.mass * member.pos[axis], resolution);
    if (!member.has_velocity()) {
      ++num_without_velocity;
      return;
    }
    for (int axis = 0; axis < 3; ++axis)
      velocity[axis].add(member.mass * member.velocity[axis], resolution);
  }

  ZHALO_HD Moments& operator+=(const Moments& other) {
    mass += other.mass;
    for (int axis = 0; axis < 3; ++axis) {
      pos[axis] += other.pos[axis];
      velocity[axis] += other.velocity[axis];
    }
    num_without_velocity += other.num_without_velocity;
    return *this;
  }

  /// The reference becomes the centre and the mean velocity.
  ZHALO_HD void finish(const HaloFrame& halo, HaloReference& about,
                       HaloProperties& properties) const {
    const double resolution = resolution_of(about.length);
    const double total = mass.value(resolution);
    properties.mass = total * halo.unit.mass;
    for (int axis = 0; axis < 3; ++axis) {
      const double centre = about.pos[axis] + pos[axis].value(resolution) / total;
      properties.centre[axis] = halo.frame.wrapped(centre * halo.unit.length, axis);
      about.pos[axis] = properties.centre[axis] / halo.unit.length;
      about.velocity[axis] = properties.velocity[axis] = unknown;
      if (num_without_velocity > 0) continue;
      about.velocity[axis] = velocity[axis].value(resolution) / total;
      properties.velocity[axis] = about.velocity[axis] * halo.unit.velocity;
    }
  }
};

/// The second look: about the centre and the mean velocity.
struct Spreads {
  FixedSum velocity2;
  FixedSum pos2;
  double max_pos2 = 0;
  Index num_without_velocity = 0;

  ZHALO_HD void add(const HaloMember& member, double resolution) {
    const double distance2 = square(member.pos);
    pos2.add(member.mass * distance2, resolution);
    max_pos2 = distance2 > max_pos2 ? distance2 : max_pos2;
    if (member.has_velocity()) {
      velocity2.add(member.mass * square(member.velocity), resolution);
    } else {
      ++num_without_velocity;
    }
  }

  ZHALO_HD Spreads& operator+=(const Spreads& other) {
    velocity2 += other.velocity2;
    pos2 += other.pos2;
    max_pos2 = other.max_pos2 > max_pos2 ? other.max_pos2 : max_pos2;
    num_without_velocity += other.num_without_velocity;
    return *this;
  }

  ZHALO_HD void finish(const HaloFrame& halo, const HaloReference& about,
                       HaloProperties& properties) const {
    const double resolution = resolution_of(about.length);
    const double total = properties.mass / halo.unit.mass;
    const double of_velocity = velocity2.value(resolution) / (total * halo.frame.box.dimensions);
    properties.velocity_dispersion =
        num_without_velocity > 0 ? unknown : sqrt(of_velocity) * halo.unit.velocity;
    properties.rms_radius = sqrt(pos2.value(resolution) / total) * halo.unit.length;
    properties.max_radius = sqrt(max_pos2) * halo.unit.length;
  }
};

/// Members and mass of one type.
struct TypeSum {
  Index length = 0;
  FixedSum mass;

  ZHALO_HD TypeSum& operator+=(const TypeSum& other) {
    length += other.length;
    mass += other.mass;
    return *this;
  }
};

}  // namespace zhalo::kernels
