/// The modes of a field: where they are, and the way to them and back.
#pragma once

#include <functional>

#include "kernels/mesh.hpp"
#include "kernels/modes.hpp"
#include "src/mesh/painting.hpp"
#include "zhalo/mesh/modes.hpp"

namespace zhalo {

/// A part of what a layout describes, which must not be empty, in memory order; its rows lie
/// without gaps between elements.
kernels::GridRows rows_of(const BoxLayout& layout, const IndexBox& part);

template <class T>
kernels::ModesView<T> view_of(Modes<T>& modes) {
  const BoxLayout& layout = modes.layout();
  return {rows_of(layout, layout.index_box),
          {reinterpret_cast<T*>(modes.span().data()), 2 * layout.size}};
}
template <class T>
Span<const T> parts_of(const Modes<T>& modes) {
  return {reinterpret_cast<const T*>(modes.span().data()), 2 * modes.layout().size};
}

/// Number for each axis and wave index along it (see wave_index()).
using AxisFunction = std::function<double(int axis, Index wave)>;

/// What compensate() multiplies modes by, or no function. InputError for a window that is none.
AxisFunction compensation_of(const Grid& grid, Window window, Compensation compensation);

/// A number for each mode's index along each axis of a rank's modes, in memory of an Exec.
class ModeTables {
 public:
  ModeTables(const Exec& exec, const Grid& grid, const BoxLayout& layout,
             const AxisFunction& function);

  kernels::AxisTables view() const;

 private:
  Buffer<double> numbers_;
  Index extent_[3] = {};
};

/// k along an axis.
double wave_number(const Grid& grid, int axis, Index wave);
/// Spacing of the grid times that: the phase from one cell to the next, between -pi and pi.
double phase_per_cell(const Grid& grid, int axis, Index wave);
/// Whether a wave is its own mirror image, but not constant: the sign of its wave number is
/// undefined.
constexpr bool is_nyquist(Index wave, Index num) { return 2 * wave == num; }

/// InputError unless the box is periodic along all axes: what else would be taken for periodic.
/// `what` begins the message.
void validate_periodic(const Grid& grid, const char* what);

/// InputError if modes or fields that belong together are of different decompositions; `what`
/// begins the message.
void validate_same(const Decomposition& a, const Decomposition& b, const char* what);

/// Multiplies by - k_axis^2: unlike two first derivatives also at the Nyquist frequency, where only
/// the sign of k is undefined.
template <class T>
void differentiate_twice(const Context& context, Modes<T>& modes, int axis);

/// To the modes are added those of the same field painted half a cell further up on every axis,
/// seen from where the former stand; halved.
template <class T>
void interlace(const Context& context, Modes<T>& modes, const Modes<T>& shifted);

// Transforms between fields with or without ghosts and modes.

/// A plan for any number of fields of one decomposition. Every member function is collective, to be
/// called within together().
template <class T>
class FieldTransform {
 public:
  FieldTransform(const Context& context, const Decomposition& decomposition);

  void forward(const Field<T>& field, Modes<T>& modes);
  void backward(const Modes<T>& modes, Field<T>& field);
  /// Uses the memory of the modes.
  void backward(Modes<T>&& modes, Field<T>& field);

  /// Where modes hold cells that become them: no field is needed beside them.
  OwnCells<T> cells_in(Modes<T>& modes) const;
  void forward_in_place(Modes<T>& modes);

 private:
  /// Calls transform(cells) with the memory of a field's own cells, without ghosts between them.
  template <class Transform>
  void fill(Field<T>& field, const Modes<T>& modes, const Transform& transform);
  /// Room for a field's own cells without ghosts between them.
  Span<T> dense_cells();
  void copy(const BoxLayout& from, const T* source, const BoxLayout& to, T* target) const;

  const Context& context_;
  Fft<T> fft_;
  Buffer<T> cells_;
};

}  // namespace zhalo
