/// The Fourier modes of a real field, and what is done to them one by one.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/for_each.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/mesh/field.hpp"
#include "zhalo/mesh/window.hpp"

namespace zhalo {

/// This rank's modes of a real field: those with 0 <= k_z <= num[2] / 2, normalised as means
/// (Norm::forward): mode 0 is the field's mean. Memory of the context's Exec, uninitialised. T:
/// float or double.
template <class T>
class Modes {
 public:
  /// InputError if the decomposition is for another number of ranks; OutOfMemory, maybe on one rank
  /// only. Not collective: it belongs into Communicator::together where other ranks would wait for
  /// this one. The decomposition must be the same on all ranks.
  Modes(const Context& context, const Decomposition& decomposition);

  const Decomposition& decomposition() const { return decomposition_; }
  /// This rank's modes: layout().index box has their indices, layout().offset(mode) where they are
  /// in memory. Ask it: the order of axes depends on the ranks.
  const BoxLayout& layout() const { return layout_; }
  Span<std::complex<T>> span() { return values_.span(); }
  Span<const std::complex<T>> span() const { return values_.span(); }

 private:
  Decomposition decomposition_;
  BoxLayout layout_;
  Buffer<std::complex<T>> values_;
};

/// Forward and backward transforms. Ghosts of the field are not looked at, and afterwards
/// undefined. The grid's values count as one period, whatever its box says. Collective. InputError
/// if the decompositions of both differ; OutOfMemory.
template <class T>
Modes<T> to_modes(const Context& context, const Field<T>& field);
template <class T>
void to_field(const Context& context, const Modes<T>& modes, Field<T>& field);

/// A copy. Not collective; OutOfMemory as the constructor.
template <class T>
Modes<T> copy_of(const Context& context, const Modes<T>& modes);

/// The wave number of index `mode` of `num` along an axis, in units of 2 pi / length: mode or mode
/// - num, from -(num - 1) / 2 to num / 2.
constexpr Index wave_index(Index mode, Index num) { return mode > num / 2 ? mode - num : mode; }

/// Fundamental wave number of an axis, 2 pi / length.
double fundamental(const Grid& grid, int axis);

// ---------------------------------------------------------------- one factor for each mode
//
// These multiply in place, in double. None of them communicates, so OutOfMemory (of tables of a
// number per index of each axis) may be on one rank only: where others go on, wrap them in
// Communicator::together. Nothing is to be divided by 0: mode 0 becomes 0 where a formula has it
// so.

/// Gaussian smoothing, exp(-k^2 radius^2 / 2).
template <class T>
void smooth_gaussian(const Context& context, Modes<T>& modes, double radius);

/// The mean within a sphere, 3 (sin x - x cos x) / x^3 with x = k radius.
template <class T>
void smooth_top_hat(const Context& context, Modes<T>& modes, double radius);

/// What painting did to a field, undone.
enum class Compensation {
  none,
  /// Divides by the window's transform, the product over axes of (sin(x) / x)^order with x = k h /
  /// 2, h the spacing of cells (Hockney & Eastwood 1981; Jing 2005, ApJ 620, 559, eq. 18).
  window,
  /// Divides by the root of the power that the window and its aliases make of white noise, so that
  /// shot noise becomes flat (Jing 2005, eq. 20): with s = sin(k h / 2), a product over axes of NGP
  /// 1, CIC 1 - 2/3 s^2, TSC 1 - s^2 + 2/15 s^4, PCS 1 - 4/3 s^2 + 2/5 s^4 - 4/315 s^6.
  shot_noise
};
template <class T>
void compensate(const Context& context, Modes<T>& modes, Window window, Compensation compensation);

/// How the Laplacian is understood: -k^2 (exact), or the transform of differences of second or
/// fourth order of neighbouring cells,
///   fd2  - sum over axes of k^2 sinc^2(k h / 2),
///   fd4  - sum over axes of k^2 (4/3 sinc^2(k h / 2) - 1/3 sinc^2(k h)),   sinc x = sin(x) / x.
enum class Laplacian { exact, fd2, fd4 };

/// The source of a potential becomes the potential: solves Laplacian(potential) = source; mode 0
/// becomes 0. Gravity's constants are the caller's: of an overdensity, 3/2 Omega_m H0^2 / a
/// (comoving), or 4 pi G times the mean density.
template <class T>
void solve_poisson(const Context& context, Modes<T>& modes, Laplacian laplacian = Laplacian::exact);

/// How a derivative is understood: i k (exact; modes with k_axis at the Nyquist frequency, whose
/// sign is undefined, become 0), or the transform of central differences of two or four
/// neighbouring cells,
///   fd2  i sin(k h) / h,
///   fd4  i (8 sin(k h) - sin(2 k h)) / (6 h).
enum class Derivative { exact, fd2, fd4 };

template <class T>
void differentiate(const Context& context, Modes<T>& modes, int axis,
                   Derivative derivative = Derivative::exact);

/// Multiplies all modes by a number, or adds those of another field, times a number. InputError if
/// the decompositions differ.
template <class T>
void scale(const Context& context, Modes<T>& modes, double factor);
template <class T>
void add(const Context& context, Modes<T>& modes, const Modes<T>& other, double factor = 1);

/// What filter() runs for each mode.
template <class T, class F>
struct FilterMode {
  BoxLayout layout;
  Grid grid;
  std::complex<T>* values;
  F factor;

  ZHALO_HD void operator()(Index i) const {
    const IndexBox& index_box = layout.index_box;
    const Index z = i % index_box.length(2);
    const Index y = i / index_box.length(2) % index_box.length(1);
    const GridIndex mode =
        index_box.lo + GridIndex{{i / index_box.length(2) / index_box.length(1), y, z}};
    Vec3d k;
    for (int axis = 0; axis < 3; ++axis) {
      constexpr double two_pi = 6.283185307179586;
      k[axis] = two_pi / grid.box.length[axis] *
                static_cast<double>(wave_index(mode[axis], grid.num[axis]));
    }
    // As two reals: std::complex is not for devices.
    T* value = reinterpret_cast<T*>(values + layout.offset(mode));
    const double by = factor(k);
    value[0] = static_cast<T>(static_cast<double>(value[0]) * by);
    value[1] = static_cast<T>(static_cast<double>(value[1]) * by);
  }
};

/// Multiplies each mode by factor(k), a real number, for a filter of one's own: `factor` is a
/// trivially copyable functor with ZHALO_HD double operator()(const Vec3d& k) const, k in radians
/// per unit of length. As for_each(): for a device its file is compiled by nvcc.
template <class T, class F>
void filter(const Context& context, Modes<T>& modes, F factor) {
  const FilterMode<T, F> each{modes.layout(), modes.decomposition().grid(), modes.span().data(),
                              factor};
  for_each(context.exec, modes.layout().index_box.size(), each);
}

}  // namespace zhalo
