/// Fields that are the same on every decomposition, and what tells whether transforms of them are
/// right.
#pragma once

#include "real_transform.hpp"

namespace zhalo::bench {

/// Sets the cells to pseudo-random numbers in [-1/2, 1/2) that depend on their place only, all else
/// in the memory to 0.
template <class T>
void fill(RealTransform<T>& transform, Index num);

/// Multiplies all that is in the memory.
template <class T>
void scale(RealTransform<T>& transform, double factor);

/// After fill(), forward() and backward(): root of the squared differences to num^3 times what was
/// filled in, over that of the squares.
template <class T>
double round_trip_error(const Communicator& comm, RealTransform<T>& transform, Index num);

/// A sum over all modes, each with a sign that depends on its place only, and the sum of their
/// squares: two spectra with equal marks are equal up to rounding, however they are distributed,
/// but for an unlikely chance.
struct SpectrumMark {
  double real = 0;
  double imaginary = 0;
  double power = 0;
};
/// After forward().
template <class T>
SpectrumMark mark_of(const Communicator& comm, RealTransform<T>& transform, Index num);

/// Difference of the sums over the root of the sum of squares: some eps if the spectra are equal.
double difference(const SpectrumMark& a, const SpectrumMark& b);

}  // namespace zhalo::bench
