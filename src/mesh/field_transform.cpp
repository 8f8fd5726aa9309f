#include "src/mesh/field_transform.hpp"

#include "kernels/on.hpp"
#include "src/fft/box_messages.hpp"
#include "src/mesh/mode_tables.hpp"

namespace zhalo {

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
