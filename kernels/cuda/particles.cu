// Particles and elements of columns on CUDA. Of positions a warp reads the coordinates of 32
// particles in the order in which they lie in memory.
#define ZHALO_BACKEND Cuda

#include <type_traits>

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

/// Calls take.take(i, position of particle take.particle(i)) for `num` elements i. Where the
/// coordinates of a particle lie side by side, neighbouring lanes read them: one by one each lane
/// would ask for the same piece of memory again for each axis.
template <class Take, class Real>
struct TakePositions {
  static constexpr int max_particles = WarpLanes<Real>::size;
  static constexpr int rounds = 4;  ///< of so many particles, one after the other
  static constexpr Index per_item = Index{rounds} * max_particles;
  static constexpr int warps_at_once = 24;  ///< on a multiprocessor

  struct Scratch {
    Real x[3 * max_particles];
    LocalIndex row[max_particles];
  };

  Take take;
  Index num;

  __device__ void operator()(const WarpLanes<Real>& lanes, Index item, Scratch& s) const {
    const int dimensions = take.particles.dimensions;
    const Strided<Real> first_axis = take.particles.segments[0].pos[0];
    const bool together = lie_together(first_axis, dimensions);
    for (int round = 0; round < rounds; ++round) {
      const Index first = item * per_item + Index{round} * max_particles;
      const Index left = num - first;
      if (left <= 0) return;
      const Index here = left < max_particles ? left : max_particles;
      if (together) {
        take_rows(lanes, first_axis, {first, here}, s);
      } else {
        lanes.for_each_lane(here, [&](Index i) { take(first + i); });
      }
    }
  }

 private:
  struct Elements {
    Index first;
    Index num;
  };

  /// One segment, whose coordinates follow each other.
  __device__ bool lie_together(const Strided<Real>& first_axis, int dimensions) const {
    bool together = take.particles.segments.size() == 1;
    for (int axis = 1; axis < dimensions; ++axis) {
      const Strided<Real>& pos = take.particles.segments[0].pos[axis];
      together = together && pos.data == first_axis.data + axis &&
                 pos.stride_bytes == first_axis.stride_bytes;
    }
    return together;
  }

  __device__ void take_rows(const WarpLanes<Real>& lanes, const Strided<Real>& first_axis,
                            const Elements& elements, Scratch& s) const {
    const auto dimensions = static_cast<unsigned>(take.particles.dimensions);
    lanes.for_each_lane(elements.num, [&](Index i) {
      s.row[i] = static_cast<LocalIndex>(take.particle(elements.first + i));
    });
    lanes.sync();
    lanes.for_each_lane(elements.num * dimensions, [&](Index e) {
      const unsigned row = static_cast<unsigned>(e) / dimensions;
      const unsigned axis = static_cast<unsigned>(e) - row * dimensions;
      s.x[e] = (&first_axis[s.row[row]])[axis];
    });
    lanes.sync();
    lanes.for_each_lane(elements.num, [&](Index i) {
      const Real* x = s.x + i * dimensions;
      take.take(elements.first + i, Vec<Real, 3>{{x[0], x[1], dimensions == 3 ? x[2] : Real{0}}});
    });
    lanes.sync();
  }
};

template <class Real, class Take>
void take_positions(const Cuda& exec, const ParticlesView<Real>& particles, const Take& take) {
  using Loop = TakePositions<Take, Real>;
  static_assert(std::is_trivially_copyable_v<Take>, "values and device pointers only");
  const Index num_items = (particles.num + Loop::per_item - 1) / Loop::per_item;
  for_each_with_lanes(exec, num_items, Loop{take, particles.num}, WarpLanes<Real>{});
}

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/particles/columns.hpp"
#include "kernels/common/particles/positions.hpp"
