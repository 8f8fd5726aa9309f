/// Functors of the caller on devices, over ranks: they see the neighbours of brute force. Skipped
/// visibly without a device.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/mpi/device/find_device.hpp"
#include "tests/mpi/device/functors.hpp"
#include "tests/support/brute_neighbours.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// This rank's part of the points and a column of theirs, in memory of the device.
template <class Real>
struct DevicePart {
  Share share;
  Buffer<Real> rows;
  Buffer<double> weight;

  DevicePart(const Context& context, const PointSet<Real>& points)
      : share(part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size())),
        rows(upload(context.exec, rows_of(points, share))),
        weight(upload(context.exec, slice(weights(points.num()), share))) {}

  Particles<Real> particles() const {
    return {.segments = {ParticleSegment<Real>::interleaved(rows.data(), share.count)}};
  }
};

}  // namespace

TEMPLATE_TEST_CASE("device: functors of the caller see the neighbours of brute force", "", float,
                   double) {
  Context context;
  if (!find_device(context)) return;
  PointSet<TestType> points{{}, Box::periodic_cube(1), 0.125};
  Random random(6);
  fill(points, random, Shape::blobs, 200);
  const Index num = points.num();
  const std::vector<double> weight = weights(num);
  const BruteNeighbours<TestType> brute(points);
  const DevicePart<TestType> part(context, points);
  const auto expected = [&](const Wanted& wanted) {
    std::vector<DigestOfList> digests;
    for (Index i = 0; i < part.share.count; ++i)
      digests.push_back(digest_of(brute.of_particle(part.share.first + i, wanted), weight));
    return digests;
  };
  const Particles<TestType> particles = part.particles();
  const KnnOptions few{.k = 5, .include_self = false, .chunk_bytes = 20000}, many{.k = 33};
  const WithinOptions within{.radius = 0.125, .include_self = false};
  const Span<const double> column = part.weight.span();

  CHECK(digest_nearest(context, particles, points.box, few, column) == expected({5, false}));
  CHECK(digest_nearest(context, particles, points.box, many, column) == expected({33, true}));
  CHECK(digest_within(context, particles, points.box, within, column) ==
        expected({0, false, within.radius}));

  // Pairs are met by the rank that searches, which may be another.
  const std::vector<char> own = mark_pairs(context, particles, points.box, within, num);
  std::vector<Index> marks(own.begin(), own.end()), pairs(marks.size());
  context.comm.sum_in_place(marks);
  for (Index i = 0; i < num; ++i) {
    for (const auto& near : brute.of_particle(i, {0, false, within.radius}))
      pairs[static_cast<std::size_t>(i * num + near.index)] = 1;
  }
  CHECK(marks == pairs);
  CHECK(std::count(pairs.begin(), pairs.end(), 1) > num);
}
