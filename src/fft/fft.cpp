#include "zhalo/fft/fft.hpp"

#include <fmt/format.h>

#include <functional>

#include "src/core/validate.hpp"
#include "src/fft/fft_plan.hpp"

namespace zhalo {
namespace {

template <class T, class Element>
void check_array(fft::FftPlan<T>& plan, const char* name, Span<const Element> array,
                 Index field_size) {
  const Index batch = plan.options().batch;
  validate_memory(plan.context().exec, array, name);
  validate(array.size() == batch * field_size,
           "the array of {} has {} elements (must have {}: {} of {})", name, array.size(),
           batch * field_size, batch == 1 ? "one field" : fmt::format("{} fields", batch),
           field_size);
}

/// Modes are written while cells of other planes are still to be read.
template <class T, class Complex>
void check_apart(Span<const T> cells, Span<const Complex> modes) {
  const auto* const first = static_cast<const void*>(cells.data());
  const auto* const last = static_cast<const void*>(cells.data() + cells.size());
  const auto* const first_mode = static_cast<const void*>(modes.data());
  const auto* const last_mode = static_cast<const void*>(modes.data() + modes.size());
  const bool overlap = !cells.empty() && !modes.empty() && std::less<>{}(first, last_mode) &&
                       std::less<>{}(first_mode, last);
  validate(!overlap,
           "the arrays of cells and of modes overlap in memory; take forward_in_place() or "
           "backward_in_place(), or two arrays");
}

template <class T, class Complex>
void check_arrays(fft::FftPlan<T>& plan, Span<const T> cells, Span<const Complex> modes) {
  plan.context().comm.together([&] {
    check_array(plan, "cells", cells, plan.cells().size);
    check_array(plan, "modes", modes, plan.modes().size);
    check_apart(cells, modes);
  });
}

template <class T>
void transform_in_place(fft::FftPlan<T>& plan, Span<T> field, fft::Direction direction) {
  plan.context().comm.together([&] {
    check_array(plan, "cells and modes in place", Span<const T>(field), plan.in_place_size());
  });
  run_transforms(plan, direction, fft::Arrays::in_place,
                 {field.data(), field.data(), plan.cells_in_place(), plan.modes()});
}

}  // namespace

template <class T>
Fft<T>::Fft(const Context& context, const Decomposition& decomposition, const FftOptions& options)
    : plan_(std::make_unique<fft::FftPlan<T>>(context, decomposition, options)) {}
template <class T>
Fft<T>::~Fft() = default;
template <class T>
Fft<T>::Fft(Fft&& other) noexcept = default;
template <class T>
Fft<T>& Fft<T>::operator=(Fft&& other) noexcept = default;

template <class T>
const Decomposition& Fft<T>::decomposition() const {
  return plan_->decomposition();
}
template <class T>
const BoxLayout& Fft<T>::cells() const {
  return plan_->cells();
}
template <class T>
const BoxLayout& Fft<T>::cells_in_place() const {
  return plan_->cells_in_place();
}
template <class T>
const BoxLayout& Fft<T>::modes() const {
  return plan_->modes();
}
template <class T>
Index Fft<T>::in_place_size() const {
  return plan_->in_place_size();
}
template <class T>
Index Fft<T>::workspace_bytes() const {
  return plan_->report().workspace_bytes;
}
template <class T>
void Fft<T>::use_workspace(Span<std::byte> workspace) {
  plan_->use_workspace(workspace);
}
template <class T>
void Fft<T>::forward(Span<const T> cells, Span<Complex> modes) {
  check_arrays(*plan_, cells, Span<const Complex>(modes));
  run_transforms(*plan_, fft::Direction::forward, fft::Arrays::apart,
                 {const_cast<T*>(cells.data()), modes.data(), plan_->cells(), plan_->modes()});
}
template <class T>
void Fft<T>::backward(Span<const Complex> modes, Span<T> cells) {
  check_arrays(*plan_, Span<const T>(cells), modes);
  run_transforms(
      *plan_, fft::Direction::backward, fft::Arrays::apart,
      {cells.data(), const_cast<Complex*>(modes.data()), plan_->cells(), plan_->modes()});
}
template <class T>
void Fft<T>::backward_overwriting(Span<Complex> modes, Span<T> cells) {
  check_arrays(*plan_, Span<const T>(cells), Span<const Complex>(modes));
  run_transforms(*plan_, fft::Direction::backward, fft::Arrays::in_place,
                 {cells.data(), modes.data(), plan_->cells(), plan_->modes()});
}
template <class T>
void Fft<T>::forward_in_place(Span<T> field) {
  transform_in_place(*plan_, field, fft::Direction::forward);
}
template <class T>
void Fft<T>::backward_in_place(Span<T> field) {
  transform_in_place(*plan_, field, fft::Direction::backward);
}
template <class T>
const FftReport& Fft<T>::report() const {
  return plan_->report();
}
template <class T>
std::string Fft<T>::describe() const {
  return plan_->describe();
}

template class Fft<float>;
template class Fft<double>;
template class Fft<std::complex<float>>;
template class Fft<std::complex<double>>;

}  // namespace zhalo
