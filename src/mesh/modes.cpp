#include "zhalo/mesh/modes.hpp"

#include <cmath>
#include <numbers>

#include "src/comm/finish_together.hpp"
#include "src/core/validate.hpp"
#include "src/mesh/field_transform.hpp"

namespace zhalo {
double fundamental(const Grid& grid, int axis) {
  const double length = grid.box.length[axis];
  validate(std::isfinite(length) && length > 0,
           "the box has length {} along {} (waves need one above 0)", length, "xyz"[axis]);
  return 2 * std::numbers::pi / length;
}

template <class T>
Modes<T>::Modes(const Context& context, const Decomposition& decomposition)
    : decomposition_(decomposition) {
  validate(decomposition.num_ranks() == context.comm.size(),
           "modes are to be divided as for {} ranks, but there are {} (make the decomposition for "
           "as many)",
           decomposition.num_ranks(), context.comm.size());
  layout_ = decomposition.modes_layout(context.comm.rank(), Spectrum::half);
  values_ = Buffer<std::complex<T>>(context.exec, layout_.size, "modes");
}

template <class T>
Modes<T> to_modes(const Context& context, const Field<T>& field) {
  return finish_together(
      context, [&] { return FieldTransform<T>(context, field.decomposition()).forward(field); });
}

template <class T>
void to_field(const Context& context, const Modes<T>& modes, Field<T>& field) {
  finish_together(
      context, [&] { FieldTransform<T>(context, modes.decomposition()).backward(modes, field); });
}

template <class T>
Modes<T> copy_of(const Context& context, const Modes<T>& modes) {
  Modes<T> copy(context, modes.decomposition());
  copy_bytes(context.exec, copy.span().data(), modes.span().data(),
             static_cast<std::size_t>(modes.span().size()) * sizeof(std::complex<T>));
  return copy;
}

template class Modes<float>;
template class Modes<double>;
template Modes<float> to_modes(const Context&, const Field<float>&);
template Modes<double> to_modes(const Context&, const Field<double>&);
template void to_field(const Context&, const Modes<float>&, Field<float>&);
template void to_field(const Context&, const Modes<double>&, Field<double>&);
template Modes<float> copy_of(const Context&, const Modes<float>&);
template Modes<double> copy_of(const Context&, const Modes<double>&);

}  // namespace zhalo
