/// One set of points for all analyses of a domain.
#pragma once

#include <vector>

#include "tests/support/brute_force.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"

namespace zhalo::testing {

/// One set of points, shared out to the ranks, and this rank's part of it as particles.
struct Analysed {
  Timers timers;
  Context context{Communicator(MPI_COMM_WORLD), host_exec(2), &timers};
  PointSet<float> points;
  Share share;
  std::vector<float> rows;
  Particles<float> particles;

  explicit Analysed(Index num) {
    points = {{}, Box::periodic_cube(1), 0.05};
    Random random(17);
    fill(points, random, Shape::blobs, num);
    share = part_of(num, Cut::uneven, context.comm.rank(), context.comm.size());
    rows = rows_of(points, share);
    particles.segments = {ParticleSegment<float>::interleaved(rows.data(), share.count)};
  }
};

template <class T>
std::vector<T> returned(const Domain<float>& domain, const Buffer<T>& values) {
  return to_host(domain.context().exec, domain.to_caller_order(values.span()));
}

}  // namespace zhalo::testing
