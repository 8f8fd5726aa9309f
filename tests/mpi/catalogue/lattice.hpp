/// Points on a lattice, whose distances are exact, and ways to spread them over ranks.
#pragma once

#include <array>
#include <vector>

#include "tests/mpi/catalogue/catalogue_samples.hpp"

namespace zhalo::testing {

/// Points on a lattice of `cells` per unit length: squared distances are whole numbers, exact in
/// float, and often equal.
constexpr Index cells = 64;
using Point = std::array<Index, 3>;

struct PointSet {
  std::vector<Point> linked;
  std::vector<Index> label;  ///< of the linked, or no_group
  std::vector<Point> others;
};

/// A box of length 1 from 0 on, periodic or not, in 2 or 3 dimensions.
inline Box box_of(bool periodic, int dimensions) {
  return periodic ? Box::periodic_cube(1, dimensions) : Box::unbounded(dimensions);
}

/// `spread` lattice cells wide, from a corner on; in a periodic box some lie outside.
inline PointSet make_point_set(Index num_linked, Index num_others, Index spread, const Box& box) {
  Random random(17);
  const auto point = [&] {
    Point p{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimensions); ++axis) {
      const Index image = box.any_periodic() && random.one_in(6) ? random.pick({-cells, cells}) : 0;
      p[axis] = random.below(static_cast<int>(spread)) + image;
    }
    return p;
  };
  PointSet point_set;
  for (Index i = 0; i < num_linked; ++i) {
    point_set.linked.push_back(point());
    point_set.label.push_back(random.one_in(7) ? no_group
                                               : random.below(static_cast<int>(num_linked)));
  }
  for (Index i = 0; i < num_others; ++i) point_set.others.push_back(point());
  return point_set;
}

/// This rank's part of the points, in two segments.
template <class Real>
struct Placed {
  std::vector<Real> pos;
  Particles<Real> particles;

  Placed(const std::vector<Point>& points, Share share, int dimensions) {
    for (Index i = share.first; i < share.first + share.count; ++i) {
      for (int axis = 0; axis < dimensions; ++axis) {
        const Index x = points[static_cast<std::size_t>(i)][static_cast<std::size_t>(axis)];
        pos.push_back(static_cast<Real>(x) / static_cast<Real>(cells));
      }
    }
    const Index cut = share.count / 3;
    particles.dimensions = dimensions;
    particles.segments.push_back(ParticleSegment<Real>::interleaved(pos.data(), cut, dimensions));
    particles.segments.push_back(ParticleSegment<Real>::interleaved(pos.data() + cut * dimensions,
                                                                    share.count - cut, dimensions));
  }
};

/// Ways to spread particles over ranks; this rank's share.
constexpr int num_ways = 4;
inline Share share_in_way(Index num, int way, const Communicator& comm) {
  const int size = comm.size();
  const int holder = way == 1 ? size - 1 : 0;
  if (way == 0) return share_of(num, comm.rank(), size);
  if (way <= 2)
    return comm.rank() == holder ? Share{0, num} : Share{comm.rank() < holder ? 0 : num, 0};
  const auto begin = [&](Index rank) {
    return num * rank * rank / (Index{size} * size);
  };  // few on the first, many on the last
  return {begin(comm.rank()), begin(comm.rank() + 1) - begin(comm.rank())};
}

inline std::vector<Index> part(const std::vector<Index>& all, Share share) {
  return {all.begin() + share.first, all.begin() + share.first + share.count};
}

}  // namespace zhalo::testing
