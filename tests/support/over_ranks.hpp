/// A point set that every rank knows, cut into the parts that the ranks bring.
#pragma once

#include <vector>

#include "tests/support/brute_force.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo::testing {

/// Ways to cut a sequence into one part per rank.
enum class Cut { even, last_only, first_only, uneven, every_second };
inline constexpr Cut all_cuts[] = {Cut::even, Cut::last_only, Cut::first_only, Cut::uneven,
                                   Cut::every_second};

inline Share part_of(Index num, Cut cut, int rank, int size) {
  switch (cut) {
    case Cut::even: return share_of(num, rank, size);
    case Cut::last_only: return rank == size - 1 ? Share{0, num} : Share{rank == 0 ? 0 : 0, 0};
    case Cut::first_only: return rank == 0 ? Share{0, num} : Share{num, 0};
    case Cut::uneven: {
      // Part r in proportion to r + 1.
      const auto before = [&](Index r) {
        return num * (r * (r + 1) / 2) / (Index{size} * (size + 1) / 2);
      };
      return {before(rank), before(rank + 1) - before(rank)};
    }
    case Cut::every_second: {
      const Index holders = (size + 1) / 2;
      const Share share = share_of(num, rank / 2, static_cast<int>(holders));
      return rank % 2 == 0 ? share : Share{share.first + share.count, 0};
    }
  }
  return {};
}

template <class Real>
std::vector<Real> rows_of(const PointSet<Real>& points, const Share& part) {
  const auto at = [&](Index i) { return points.pos.begin() + i * points.box.dimensions; };
  return {at(part.first), at(part.first + part.count)};
}

template <class Real>
FofResult fof_of_part(const Context& context, const PointSet<Real>& points, const Share& part,
                      const FofOptions& options) {
  const std::vector<Real> rows = rows_of(points, part);
  Particles<Real> particles;
  particles.dimensions = points.box.dimensions;
  particles.segments.push_back(
      ParticleSegment<Real>::interleaved(rows.data(), part.count, points.box.dimensions));
  return friends_of_friends(context, particles, points.box, options);
}

/// What one rank alone finds.
template <class Real>
std::vector<Index> labels_of_one_rank(const PointSet<Real>& points) {
  Context context;
  context.exec = host_exec(1);
  return to_host(context.exec,
                 fof_of_part(context, points, {0, points.num()}, {points.linking_length}).label);
}

template <class T>
std::vector<T> slice(const std::vector<T>& values, const Share& part) {
  return {values.begin() + part.first, values.begin() + part.first + part.count};
}

}  // namespace zhalo::testing
