/// Points whose density is painted, cut evenly for the ranks.
#pragma once

#include "tests/mpi/mesh/modes_case.hpp"
#include "tests/mpi/mesh/paint_case.hpp"

namespace zhalo::testing {

using Points = PaintedPoints<double>;

inline Points::Part part_of(const Context& context, const Points& point_set) {
  return point_set.part(share_of(point_set.num(), context.comm.rank(), context.comm.size()));
}

/// Points at random positions, or in clumps.
inline Points points(const Grid& grid, Index num, double clump_size = 0) {
  Points point_set{grid, {}, {}};
  Random random(77);
  Vec3d centre;
  for (Index i = 0; i < num; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      if (i % 40 == 0 || clump_size == 0) centre[axis] = grid.box.length[axis] * random.uniform();
      const double away = clump_size * (random.uniform(-1, 1) + random.uniform(-1, 1));
      point_set.pos.push_back(grid.box.lo[axis] + centre[axis] + away);
    }
    point_set.mass.push_back(1);
  }
  return point_set;
}

}  // namespace zhalo::testing
