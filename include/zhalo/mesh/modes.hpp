/// The Fourier modes of a real field, and operations on each mode.
#pragma once

#include <complex>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/for_each.hpp"
#include "zhalo/fft/fft.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo {

/// This rank's modes of a real field: those with 0 <= k_z <= num[2] / 2. They are normalised as
/// means (Norm::forward), so mode 0 is the mean of the field. The object owns its memory, which is
/// memory of the context's Exec and not initialised. T: float or double.
template <class T>
class Modes {
 public:
  /// The decomposition must be the same on all ranks. Not collective. InputError if the
  /// decomposition is for another number of ranks. OutOfMemory may be thrown on one rank only: if
  /// other ranks would wait for this one, run it in Communicator::together.
  Modes(const Context& context, const Decomposition& decomposition);
  Modes(Context&&, const Decomposition&) = delete;  // it would end too early

  const Decomposition& decomposition() const { return decomposition_; }
  /// Layout of this rank's modes. layout().index_box has their indices, and layout().offset(mode)
  /// is the index of a mode in span(). Always ask it, because the order of the axes depends on the
  /// ranks.
  const BoxLayout& layout() const { return layout_; }
  Span<std::complex<T>> span() { return values_.span(); }
  Span<const std::complex<T>> span() const { return values_.span(); }
  /// The same memory and what may be behind it: Fft<T>::in_place_size() numbers, for the cells of a
  /// field that become modes where they are.
  Span<T> room() { return {reinterpret_cast<T*>(values_.data()), room_size_}; }

 private:
  Decomposition decomposition_;
  BoxLayout layout_;
  Index room_size_ = 0;
  Buffer<std::complex<T>> values_;
};

/// Forward and backward transforms between a field and its modes. Ghosts are not used and not
/// updated. The grid counts as one period, whether its box is periodic or not. Collective.
/// InputError if the decompositions of both differ; OutOfMemory.
template <class T>
Modes<T> to_modes(const Context& context, const Field<T>& field);
template <class T>
void to_field(const Context& context, const Modes<T>& modes, Field<T>& field);
/// Transforms in the memory of the modes, which hold anything afterwards. On one rank this needs
/// the memory of one mesh less.
template <class T>
void to_field(const Context& context, Modes<T>&& modes, Field<T>& field);

/// Returns a copy. Not collective. On a device it is queued. OutOfMemory as in the constructor.
template <class T>
Modes<T> copy_of(const Context& context, const Modes<T>& modes);

/// The wave number of index `mode` of `num` along an axis, in units of 2 pi / length. It is `mode`
/// or `mode` - `num`, so that it lies between -(num - 1) / 2 and num / 2.
constexpr Index wave_index(Index mode, Index num) { return mode > num / 2 ? mode - num : mode; }

/// Fundamental wave number of an axis, 2 pi / length. InputError unless there is such an axis, and
/// its length is more than 0.
double fundamental(const Grid& grid, int axis);

// ---------------------------------------------------------------- one factor for each mode
//
// These functions multiply modes in place, in double. None of them communicates. So OutOfMemory (of
// tables with one number per index and axis) may be thrown on one rank only: if other ranks go on,
// run them in Communicator::together. On a device the work is queued: another stream waits for that
// of the Exec before it reads the modes. Where a formula would divide by 0 at mode 0, mode 0
// becomes 0.

/// Gaussian smoothing: multiplies by exp(-k^2 radius^2 / 2). InputError unless the radius is finite
/// and not negative.
template <class T>
void smooth_gaussian(const Context& context, Modes<T>& modes, double radius);

/// Mean within a sphere: multiplies by 3 (sin x - x cos x) / x^3 with x = k radius. InputError
/// unless the radius is finite and not negative.
template <class T>
void smooth_top_hat(const Context& context, Modes<T>& modes, double radius);

/// How the effect of the mass assignment window on the modes is removed.
enum class Compensation {
  none,
  /// Divides by the transform of the window: the product over axes of (sin(x) / x)^order with
  /// x = k h / 2, where h is the spacing of cells (Hockney & Eastwood 1981; Jing 2005, ApJ 620,
  /// 559, eq. 18).
  window,
  /// Divides by the root of the power that white noise gets from the window and its aliases. Shot
  /// noise then becomes flat (Jing 2005, eq. 20). With s = sin(k h / 2), that power is a product
  /// over axes of NGP 1, CIC 1 - 2/3 s^2, TSC 1 - s^2 + 2/15 s^4,
  /// PCS 1 - 4/3 s^2 + 2/5 s^4 - 4/315 s^6.
  shot_noise
};
/// Removes the effect of the window from modes of a painted field. `window` is the one of painting,
/// h the spacing of the modes' grid. Does nothing for Compensation::none. InputError for a window
/// that does not exist.
template <class T>
void compensate(const Context& context, Modes<T>& modes, Window window, Compensation compensation);

/// Sets modes to 0 whose k is at the Nyquist frequency of an axis with an even number of cells. Of
/// these k and -k are one mode of the grid, so the sign of k is undefined. Do this before a field,
/// a potential or an acceleration is made of interlaced modes (DensityOptions::interlaced): it then
/// does not depend on which axis is called z.
template <class T>
void remove_nyquist(const Context& context, Modes<T>& modes);

/// The Laplacian of a mode: -k^2 (exact), or the transform of differences of neighbouring cells of
/// second or fourth order:
///   fd2  - sum over axes of k^2 sinc^2(k h / 2),
///   fd4  - sum over axes of k^2 (4/3 sinc^2(k h / 2) - 1/3 sinc^2(k h)),   sinc x = sin(x) / x.
enum class Laplacian { exact, fd2, fd4 };

/// Replaces a source by its potential: solves Laplacian(potential) = source. Mode 0 becomes 0. The
/// caller provides the constants of gravity. For an overdensity these are 3/2 Omega_m H0^2 / a
/// (comoving), or 4 pi G times the mean density.
template <class T>
void solve_poisson(const Context& context, Modes<T>& modes, Laplacian laplacian = Laplacian::exact);

/// The derivative of a mode: i k (exact), or the transform of central differences of two or four
/// neighbouring cells. Modes with k_axis at the Nyquist frequency become 0, because its sign is
/// undefined.
///   fd2  i sin(k h) / h,
///   fd4  i (8 sin(k h) - sin(2 k h)) / (6 h).
enum class Derivative { exact, fd2, fd4 };

/// Derivative along an axis. InputError unless the axis is 0, 1 or 2, and the box has a length
/// along it.
template <class T>
void differentiate(const Context& context, Modes<T>& modes, int axis,
                   Derivative derivative = Derivative::exact);

/// Multiplies all modes by a number.
template <class T>
void scale(const Context& context, Modes<T>& modes, double factor);
/// Adds the modes of another field, times a number. InputError if the decompositions differ.
template <class T>
void add(const Context& context, Modes<T>& modes, const Modes<T>& other, double factor = 1);

/// The functor that filter() runs for each mode.
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
    // As two reals, because std::complex is not for devices.
    T* value = reinterpret_cast<T*>(values + layout.offset(mode));
    const double by = factor(k);
    value[0] = static_cast<T>(static_cast<double>(value[0]) * by);
    value[1] = static_cast<T>(static_cast<double>(value[1]) * by);
  }
};

/// Multiplies each mode by the real number factor(k). `factor` is your own trivially copyable
/// functor with ZHALO_HD double operator()(const Vec3d& k) const. k is in radians per unit of
/// length. As with for_each(), nvcc must have compiled the file if the Exec is a device. InputError
/// for a box without three lengths.
template <class T, class F>
void filter(const Context& context, Modes<T>& modes, F factor) {
  for (int axis = 0; axis < 3; ++axis) fundamental(modes.decomposition().grid(), axis);
  const FilterMode<T, F> each{modes.layout(), modes.decomposition().grid(), modes.span().data(),
                              factor};
  for_each(context.exec, modes.layout().index_box.size(), each);
}

}  // namespace zhalo
