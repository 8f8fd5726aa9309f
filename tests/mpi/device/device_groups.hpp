/// Groups over the ranks' devices, against those of one rank: for tests of how messages travel.
#pragma once

#include <catch2/catch.hpp>

#include "tests/mpi/device/find_device.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo::testing {

/// The groups of points, of which each rank has a part on its device.
inline void check_groups(const Context& context) {
  PointSet<float> points{{}, Box::periodic_cube(1), 0.05};
  Random random(5);
  fill(points, random, Shape::blobs, 400);
  const Share part = part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size());
  const Buffer<float> rows = upload(context.exec, rows_of(points, part));
  Particles<float> particles;
  particles.segments = {ParticleSegment<float>::interleaved(rows.data(), rows.size() / 3, 3)};
  const FofResult found =
      friends_of_friends(context, particles, points.box, {.linking_length = points.linking_length});
  CHECK(to_host(context.exec, found.label) == slice(labels_of_one_rank(points), part));
}

}  // namespace zhalo::testing
