/// The linking length: is it one, and what it means for coordinates, keys, and distances.
#pragma once

#include "kernels/kernels.hpp"
#include "src/domain/sorted_particles.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo {

/// Throws InputError.
void validate_options(const Box& box, const FofOptions& options);

/// Scaled to a linking length between 1 and 2, exactly; but no coordinate may overflow, however
/// small the linking length.
template <class Real>
double scale_for(double linking_length, const Box& box, const Extent& extent);

/// Throws InputError if squares of the scaled linking length overflow or underflow.
template <class Real>
void validate_scale(double linking_length, double scale);

/// Cells of this side are clumps: their diagonal is less than the linking length, by more than any
/// rounding.
double clump_cell(double linking_length, int dimensions);

/// Fills in all lengths, scaled.
template <class Real>
void set_lengths(kernels::FofView<Real>& fof, const Box& box, double linking_length, double scale);

}  // namespace zhalo
