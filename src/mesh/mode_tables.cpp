#include "src/mesh/mode_tables.hpp"

#include <numbers>
#include <vector>

#include "kernels/on.hpp"
#include "src/core/validate.hpp"
#include "src/fft/box_messages.hpp"

namespace zhalo {

kernels::GridRows rows_of(const BoxLayout& layout, const IndexBox& part) {
  const AxisOrder order = order_of(layout);
  kernels::GridRows rows;
  for (int i = 0; i < 3; ++i) rows.extent[i] = part.length(order[static_cast<std::size_t>(i)]);
  for (int i = 0; i < 2; ++i) rows.stride[i] = layout.stride[order[static_cast<std::size_t>(i)]];
  rows.first = layout.offset(part.lo);
  return rows;
}

ModeTables::ModeTables(const Exec& exec, const Grid& grid, const BoxLayout& layout,
                       const AxisFunction& function) {
  std::vector<double> numbers;
  Index* extent = extent_;
  for (const int axis : order_of(layout)) {
    *extent++ = layout.index_box.length(axis);
    for (Index mode = layout.index_box.lo[axis]; mode < layout.index_box.hi[axis]; ++mode)
      numbers.push_back(function(axis, wave_index(mode, grid.num[axis])));
  }
  numbers_ = to_exec(exec, Span<const double>(numbers), "factors of modes");
}

kernels::AxisTables ModeTables::view() const {
  const Span<const double> all = numbers_.span();
  return {{all.subspan(0, extent_[0]), all.subspan(extent_[0], extent_[1]),
           all.subspan(extent_[0] + extent_[1], extent_[2])}};
}

double wave_number(const Grid& grid, int axis, Index wave) {
  return fundamental(grid, axis) * static_cast<double>(wave);
}

double phase_per_cell(const Grid& grid, int axis, Index wave) {
  return 2 * std::numbers::pi * static_cast<double>(wave) / static_cast<double>(grid.num[axis]);
}

void validate_periodic(const Grid& grid, const char* what) {
  for (int axis = 0; axis < 3; ++axis) {
    validate(grid.box.periodic[axis],
             "{} in a box that is not periodic along {}; make the box periodic, or zero-pad an "
             "isolated system",
             what, "xyz"[axis]);
  }
}

void validate_same(const Decomposition& a, const Decomposition& b, const char* what) {
  const Vec3d& of_a = a.grid().box.length;
  const Vec3d& of_b = b.grid().box.length;
  validate(a == b || a.describe() != b.describe(),
           "{} are of different grids: their boxes differ, with sides {} x {} x {} and {} x {} x "
           "{}, or in corner or periodic axes (must be of one)",
           what, of_a[0], of_a[1], of_a[2], of_b[0], of_b[1], of_b[2]);
  validate(a == b, "{} are of different grids or decompositions, {} and {} (must be of one)", what,
           a.describe(), b.describe());
}

// Transforms between fields and modes.

template <class T>
FieldTransform<T>::FieldTransform(const Context& context, const Decomposition& decomposition)
    : context_(context), fft_([&] {
        const PhaseTimer timer(context, "transform");
        return Fft<T>(context, decomposition);
      }()) {}

template <class T>
void FieldTransform<T>::forward(const Field<T>& field, Modes<T>& modes) {
  const PhaseTimer timer(context_, "transform");
  validate_same(fft_.decomposition(), field.decomposition(),
                "the field and the modes that it is to become");
  const bool is_dense = field.layout() == fft_.cells();
  if (!is_dense) copy(field.layout(), field.span().data(), fft_.cells(), dense_cells().data());
  fft_.forward(is_dense ? field.span() : cells_.span(), modes.span());
}

template <class T>
template <class Transform>
void FieldTransform<T>::fill(Field<T>& field, const Modes<T>& modes, const Transform& transform) {
  const PhaseTimer timer(context_, "transform");
  validate_same(modes.decomposition(), field.decomposition(),
                "the modes and the field that they are to become");
  const bool is_dense = field.layout() == fft_.cells();
  transform(is_dense ? field.span() : dense_cells());
  if (!is_dense) copy(fft_.cells(), cells_.data(), field.layout(), field.span().data());
}

template <class T>
void FieldTransform<T>::backward(const Modes<T>& modes, Field<T>& field) {
  fill(field, modes, [&](Span<T> cells) { fft_.backward(modes.span(), cells); });
}

template <class T>
void FieldTransform<T>::backward(Modes<T>&& modes, Field<T>& field) {
  fill(field, modes, [&](Span<T> cells) { fft_.backward_overwriting(modes.span(), cells); });
}

template <class T>
OwnCells<T> FieldTransform<T>::cells_in(Modes<T>& modes) const {
  return {modes.room().data(), fft_.cells_in_place().stride};
}

template <class T>
void FieldTransform<T>::forward_in_place(Modes<T>& modes) {
  const PhaseTimer timer(context_, "transform");
  fft_.forward_in_place(modes.room().subspan(0, fft_.in_place_size()));
}

template <class T>
Span<T> FieldTransform<T>::dense_cells() {
  if (cells_.size() != fft_.cells().size)
    cells_ = Buffer<T>(context_.exec, fft_.cells().size, "cells without ghosts");
  return cells_.span();
}

template <class T>
void FieldTransform<T>::copy(const BoxLayout& from, const T* source, const BoxLayout& to,
                             T* target) const {
  MoveList moves(1);
  moves.add({from, fft_.cells().index_box}, {to, fft_.cells().index_box});
  const UploadedMoves uploaded = moves.upload(context_.exec);
  const kernels::ElementArrays arrays{source, target, static_cast<Index>(sizeof(T))};
  kernels::on(context_.exec,
              [&](const auto& e) { kernels::copy_boxes(e, uploaded.view(), arrays); });
}

template class FieldTransform<float>;
template class FieldTransform<double>;

}  // namespace zhalo
