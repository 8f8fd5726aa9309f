/// Particles in the memory of this rank's device, for tests that run on any number of ranks.
#pragma once

#include <cmath>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/ics/points.hpp"

namespace zhalo::emulated {

inline Context on_device() {
  Context context;
  context.comm = Communicator(MPI_COMM_WORLD);
  const int num_devices = query_devices().num_devices;
  context.exec = cuda_exec(context.comm.node_rank() % num_devices);
  return context;
}

/// This rank's part of the points, in the memory of its device.
class Sample {
 public:
  Sample(const Context& context, points::Kind kind, Index num)
      : Sample(context, points::make_points(kind, num).pos) {}
  /// Of positions that all ranks have, row by row.
  Sample(const Context& context, const std::vector<float>& pos)
      : num_(static_cast<Index>(pos.size() / 3)), rows_(part_of(context, pos)) {}

  Particles<float> particles() const {
    Particles<float> all;
    all.segments = {ParticleSegment<float>::interleaved(rows_.data(), rows_.size() / 3, 3)};
    return all;
  }
  double linking_length() const { return 0.2 / std::cbrt(static_cast<double>(num_)); }

  const Box box = Box::periodic_cube(1);

 private:
  static Buffer<float> part_of(const Context& context, const std::vector<float>& pos) {
    const auto num = static_cast<Index>(pos.size() / 3);
    const Index first = num * context.comm.rank() / context.comm.size();
    const Index last = num * (context.comm.rank() + 1) / context.comm.size();
    return to_exec(context.exec, Span<const float>(pos.data() + 3 * first, 3 * (last - first)),
                   "positions");
  }

  Index num_;
  Buffer<float> rows_;
};

}  // namespace zhalo::emulated
