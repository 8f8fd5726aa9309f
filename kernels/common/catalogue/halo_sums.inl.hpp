// What is added up over the members of a halo, and the properties that follow. No include guard on
// purpose: kernels/catalogue.hpp has this text for single numbers, kernels/host/catalogue.cpp once
// for each vector target, in ZHALO_NUMBERS_NAMESPACE.
//
// A Number is a double, or a vector of them that has members in its elements. Besides + - * < and
// <=, which give a mask, there are
//
//   IntegersOf<Number>                  integers in place of a Number's doubles
//   Number whole_of(Number x)           x cut to a whole number, and that as integers:
//   IntegersOf<Number> integers_of(Number x)
//   Number magnitude(Number x), larger(Number a, Number b)
//   both(mask, mask)
//   Number where(mask, Number x)        x where the mask is set, else 0
//   Index num_unset(mask)               elements that are not set
//   Index total(integers), double largest(Number)
//                                       over the elements

namespace ZHALO_NUMBERS_NAMESPACE {

/// Terms are below 16 in magnitude. They are cut to whole multiples of 1 / resolution^2, of which
/// two words hold the upper and the lower part. Both stay below 2^62.
template <class Number>
struct FixedSum {
  IntegersOf<Number> high{};
  IntegersOf<Number> low{};

  ZHALO_NUMBERS_INLINE ZHALO_HD void add(Number term, Number resolution) {
    const Number scaled = term * resolution;
    const Number whole = whole_of(scaled);
    high += integers_of(whole);
    low += integers_of((scaled - whole) * resolution);
  }
  template <class Other>
  ZHALO_NUMBERS_INLINE ZHALO_HD FixedSum& operator+=(const FixedSum<Other>& other) {
    high += total(other.high);
    low += total(other.low);
    return *this;
  }
  ZHALO_HD double value(double resolution) const {
    return (static_cast<double>(high) + static_cast<double>(low) / resolution) / resolution;
  }
};

/// From 0 to the nearest image of x, which lies at most one period away.
template <class Number>
ZHALO_NUMBERS_INLINE ZHALO_HD Number nearest_image(Number x, Number period) {
  const Number half = period * Number(0.5);
  x = x - where(half < x, period);
  return x + where(x < Number(0.0) - half, period);
}

/// Members, in HaloUnits.
template <class Number>
struct HaloMember {
  Number mass;
  Number pos[3];
  Number velocity[3];

  /// Positions and velocities become those relative to the reference.
  ZHALO_NUMBERS_INLINE ZHALO_HD void relate_to(const HaloReference& about,
                                               const double (&period)[3]) {
    for (int axis = 0; axis < 3; ++axis) {
      pos[axis] = nearest_image(pos[axis] - Number(about.pos[axis]), Number(period[axis]));
      velocity[axis] = velocity[axis] - Number(about.velocity[axis]);
    }
  }

  /// All components of a velocity are below 2: the velocity is known and finite.
  ZHALO_NUMBERS_INLINE ZHALO_HD auto has_velocity() const {
    const Number limit(2.0);
    return both(magnitude(velocity[0]) <= limit,
                both(magnitude(velocity[1]) <= limit, magnitude(velocity[2]) <= limit));
  }
};

template <class Number>
ZHALO_NUMBERS_INLINE ZHALO_HD Number square(const Number (&v)[3]) {
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

// ---------------------------------------------------------------- what is summed

/// The first look at all members: about the position of one of them.
template <class Number>
struct MomentsOf {
  FixedSum<Number> mass;
  FixedSum<Number> pos[3];
  FixedSum<Number> velocity[3];
  Index num_without_velocity = 0;

  ZHALO_NUMBERS_INLINE ZHALO_HD void add(const HaloMember<Number>& member, Number resolution) {
    const auto known = member.has_velocity();
    num_without_velocity += num_unset(known);
    mass.add(member.mass, resolution);
    for (int axis = 0; axis < 3; ++axis) {
      pos[axis].add(member.mass * member.pos[axis], resolution);
      velocity[axis].add(where(known, member.mass * member.velocity[axis]), resolution);
    }
  }

  template <class Other>
  ZHALO_NUMBERS_INLINE ZHALO_HD MomentsOf& operator+=(const MomentsOf<Other>& other) {
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
    const double sum = mass.value(resolution);
    properties.mass = sum * halo.unit.mass;
    for (int axis = 0; axis < 3; ++axis) {
      const double centre = about.pos[axis] + pos[axis].value(resolution) / sum;
      properties.centre[axis] = halo.frame.wrapped(centre * halo.unit.length, axis);
      about.pos[axis] = properties.centre[axis] / halo.unit.length;
      about.velocity[axis] = properties.velocity[axis] = unknown;
      if (num_without_velocity > 0) continue;
      about.velocity[axis] = velocity[axis].value(resolution) / sum;
      properties.velocity[axis] = about.velocity[axis] * halo.unit.velocity;
    }
  }
};

/// The second look: about the centre and the mean velocity.
template <class Number>
struct SpreadsOf {
  FixedSum<Number> velocity2;
  FixedSum<Number> pos2;
  Number max_pos2{};
  Index num_without_velocity = 0;

  ZHALO_NUMBERS_INLINE ZHALO_HD void add(const HaloMember<Number>& member, Number resolution) {
    const auto known = member.has_velocity();
    num_without_velocity += num_unset(known);
    velocity2.add(where(known, member.mass * square(member.velocity)), resolution);
    const Number distance2 = square(member.pos);
    pos2.add(member.mass * distance2, resolution);
    max_pos2 = larger(max_pos2, distance2);
  }

  template <class Other>
  ZHALO_NUMBERS_INLINE ZHALO_HD SpreadsOf& operator+=(const SpreadsOf<Other>& other) {
    velocity2 += other.velocity2;
    pos2 += other.pos2;
    max_pos2 = larger(max_pos2, largest(other.max_pos2));
    num_without_velocity += other.num_without_velocity;
    return *this;
  }

  ZHALO_HD void finish(const HaloFrame& halo, const HaloReference& about,
                       HaloProperties& properties) const {
    const double resolution = resolution_of(about.length);
    const double sum = properties.mass / halo.unit.mass;
    const double of_velocity = velocity2.value(resolution) / (sum * halo.frame.box.dimensions);
    properties.velocity_dispersion =
        num_without_velocity > 0 ? unknown : sqrt(of_velocity) * halo.unit.velocity;
    properties.rms_radius = sqrt(pos2.value(resolution) / sum) * halo.unit.length;
    properties.max_radius = sqrt(max_pos2) * halo.unit.length;
  }
};

}  // namespace ZHALO_NUMBERS_NAMESPACE
