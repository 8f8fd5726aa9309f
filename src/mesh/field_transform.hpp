/// Transforms between fields with or without ghosts and modes.
#pragma once

#include "src/mesh/painted_cells.hpp"
#include "zhalo/mesh/modes.hpp"

namespace zhalo {

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
