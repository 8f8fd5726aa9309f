/// Positions in redshift space, as they are read.
#pragma once

#include "zhalo/core/span.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::io {

/// Moves the positions (N, 3) of these particles by their velocities, which it reads. InputError
/// for a velocity that is not finite.
template <class Real>
void move_to_redshift_space(const Snapshot& snapshot, const RedshiftSpace& space,
                            const TypeRange& rows, Span<Real> xyz);

}  // namespace zhalo::io
