#include "zhalo/fft/fft.hpp"

#include "src/fft/fft_plan.hpp"

namespace zhalo {

template <class T>
Fft<T>::Fft(const Context& context, const Decomposition& decomposition, const FftOptions& options)
    : plan_(std::make_unique<mesh::FftPlan<T>>(context, decomposition, options)) {}
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
  plan_->forward(cells, modes);
}
template <class T>
void Fft<T>::backward(Span<const Complex> modes, Span<T> cells) {
  plan_->backward(modes, cells);
}
template <class T>
void Fft<T>::forward_in_place(Span<T> field) {
  plan_->transform_in_place(field, mesh::Direction::forward);
}
template <class T>
void Fft<T>::backward_in_place(Span<T> field) {
  plan_->transform_in_place(field, mesh::Direction::backward);
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
