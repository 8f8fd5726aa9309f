/// Particles that are given to C and to C++ alike.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "tests/support/over_ranks.hpp"
#include "tests/support/random.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/zhalo.h"

namespace zhalo::testing {

/// What members carry: 12 bytes that are used, and 4 that are not.
struct Tagged {
  static constexpr Index used_bytes = 12;
  std::int32_t number[3];
  std::int32_t unused;
};

/// One rank's share of clumps on a lattice, so that distances are often equal. Some particles are
/// outside the periodic axes. Each species is cut in its own way; with several ranks, one or more
/// may have none.
template <class Real>
struct Species {
  int dimensions;
  std::vector<Real> position;
  std::vector<Real> velocity;
  std::vector<double> mass;
  std::vector<std::uint8_t> type;
  std::vector<Tagged> tagged;

  Species(const Communicator& comm, const Box& box, Index num_total, int seed)
      : dimensions(box.dimensions) {
    Random random(static_cast<std::uint64_t>(seed));
    const Cut cut = all_cuts[seed % 5];
    const Share share = part_of(num_total, cut, comm.rank(), comm.size());
    for (Index i = 0; i < num_total; ++i) {
      const bool is_here = i >= share.first && i < share.first + share.count;
      add(random, box, is_here, i);
    }
  }

  Index num() const { return static_cast<Index>(mass.size()); }

  Particles<Real> in_cpp() const {
    Particles<Real> particles;
    particles.dimensions = dimensions;
    ParticleSegment<Real> segment =
        ParticleSegment<Real>::interleaved(position.data(), num(), dimensions);
    segment.set_interleaved_velocity(velocity.data(), dimensions);
    segment.mass = mass.data();
    segment.type = {type.data()};
    particles.segments = {segment};
    return particles;
  }

  zhalo_particles in_c() const {
    constexpr int precision = std::is_same_v<Real, float> ? ZHALO_FLOAT : ZHALO_DOUBLE;
    zhalo_particles particles{};
    particles.num = num();
    particles.dimensions = dimensions;
    zhalo_set_rows(particles.position, position.data(), precision, dimensions);
    zhalo_set_rows(particles.velocity, velocity.data(), precision, dimensions);
    particles.mass.data = mass.data();
    particles.type = {type.data(), 0, ZHALO_UINT8};
    return particles;
  }

 private:
  /// Draws the same numbers on all ranks.
  void add(Random& random, const Box& box, bool is_here, Index i) {
    const Index clump = random.below(60);
    const bool is_outside = random.one_in(20);
    for (int axis = 0; axis < dimensions; ++axis) {
      const double centre = static_cast<double>((clump * (7 + 4 * axis)) % 16) / 16;
      const double steps = static_cast<double>(random.below(9)) - 4;
      double x = clump < 40 ? centre + steps / 256 : random.uniform();
      if (box.periodic[axis] && is_outside) x += random.pick({-1.0, 1.0});
      const double speed = random.uniform(-1, 1);
      if (!is_here) continue;
      position.push_back(static_cast<Real>(x));
      velocity.push_back(static_cast<Real>(speed));
    }
    const double weight = random.uniform(0.5, 2);
    const Index kind = random.below(3);
    if (!is_here) return;
    mass.push_back(weight);
    type.push_back(static_cast<std::uint8_t>(kind));
    const auto number = static_cast<std::int32_t>(i);
    tagged.push_back({{number, -number, 3 * number}, 7});
  }
};

inline zhalo_box box_in_c(const Box& box) {
  zhalo_box own{};
  for (int axis = 0; axis < box.dimensions; ++axis) {
    own.lo[axis] = box.lo[axis];
    own.length[axis] = box.length[axis];
    own.periodic[axis] = box.periodic[axis] ? 1 : 0;
  }
  return own;
}

}  // namespace zhalo::testing
