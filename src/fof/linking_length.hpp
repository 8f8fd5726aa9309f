/// Linking lengths as kernels compare them: scaled, and with what rounding leaves in doubt.
#pragma once

#include "kernels/fof.hpp"
#include "src/domain/domain_state.hpp"

namespace zhalo {

/// Fills in all lengths, scaled.
template <class Real>
void set_lengths(kernels::FofView<Real>& fof, const Box& box, double linking_length, double scale);

/// Scaled to a linking length between 1 and 2, exactly; but no coordinate may overflow, however
/// small the linking length.
template <class Real>
double scale_for(double linking_length, const Box& box, const Extent& extent);

/// Throws InputError if squares of the scaled linking length overflow or underflow.
template <class Real>
void validate_scale(double linking_length, double scale);

/// True if there are no particles, too.
bool all_at_one_place(const Extent& extent, int dimensions);

/// A linking length that joins the same particles of the domain and whose square is in range. No
/// two are farther apart than the diagonal of their extent. On periodic axes that is the box: where
/// particles are wrapped, rounding may move them out of the extent. If all are at one place, or
/// there are none, any length will do.
template <class Real>
double equivalent_link(const DomainState<Real>& domain, double linking_length);

}  // namespace zhalo
