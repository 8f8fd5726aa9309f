/// Where many particles lie, at a glance.
#pragma once

#include "kernels/particles.hpp"

namespace zhalo::kernels {

/// Do the coordinates lie as x, y, z, x, y, z, ...?
template <class Real>
bool are_rows(const Strided<Real> (&pos)[3]) {
  bool are = true;
  for (int a = 0; a < 3; ++a)
    are = are && pos[a].stride_bytes == static_cast<Index>(3 * sizeof(Real)) &&
          pos[a].data == pos[0].data + a;
  return are;
}

/// The least and the most of some positions, of which there is one at least, along each axis; an
/// axis without positions counts as all 0. Both mean nothing unless all are finite.
struct PositionBounds {
  double lo[3] = {0, 0, 0};
  double hi[3] = {0, 0, 0};
  bool all_finite = true;
};
PositionBounds bounds_of(const Strided<float> (&pos)[3], Index row, Index num);
PositionBounds bounds_of(const Strided<double> (&pos)[3], Index row, Index num);

}  // namespace zhalo::kernels
