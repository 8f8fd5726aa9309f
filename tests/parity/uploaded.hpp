/// Particles in the memory of an Exec, copied from columns on the host.
#pragma once

#include "tests/parity/backends.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo::testing {

/// Row by row; only positions are needed.
template <class Real>
struct Columns {
  int dimensions = 3;
  std::vector<Real> pos;
  std::vector<Real> velocity;
  std::vector<double> mass;
  std::vector<std::uint8_t> type;

  Index num() const { return static_cast<Index>(pos.size()) / dimensions; }
};

/// Two segments, the first with a third of the particles.
template <class Real>
class Uploaded {
 public:
  Uploaded(const Exec& exec, const Columns<Real>& columns)
      : pos_(upload(exec, columns.pos)),
        velocity_(upload(exec, columns.velocity)),
        mass_(upload(exec, columns.mass)),
        type_(upload(exec, columns.type)) {
    particles_.dimensions = columns.dimensions;
    particles_.uniform_mass = 0.75;
    const Index num = columns.num();
    add_segment(0, num / 3);
    add_segment(num / 3, num - num / 3);
  }

  const Particles<Real>& particles() const { return particles_; }

 private:
  void add_segment(Index first, Index num) {
    const int dimensions = particles_.dimensions;
    auto segment =
        ParticleSegment<Real>::interleaved(pos_.data() + first * dimensions, num, dimensions);
    if (!velocity_.empty())
      segment.set_interleaved_velocity(velocity_.data() + first * dimensions, dimensions);
    if (!mass_.empty()) segment.mass = RealColumn(mass_.data() + first);
    if (!type_.empty()) segment.type = {type_.data() + first};
    particles_.segments.push_back(segment);
  }

  Buffer<Real> pos_;
  Buffer<Real> velocity_;
  Buffer<double> mass_;
  Buffer<std::uint8_t> type_;
  Particles<Real> particles_;
};

}  // namespace zhalo::testing
