#include "zhalo/mesh/modes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/mesh/mode_tables.hpp"

namespace zhalo {

double fundamental(const Grid& grid, int axis) {
  const int dimensions = std::min(grid.box.dimensions, 3);
  validate(axis >= 0 && axis < dimensions, "there is no axis {} in a box of {} dimensions", axis,
           dimensions);
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
  const IndexBox cells = decomposition.cells(context.comm.rank());
  const Index num_z = decomposition.num_modes(Spectrum::half)[2];
  const Index size = std::max(layout_.size, cells.length(0) * cells.length(1) * num_z);
  room_size_ = 2 * size;
  values_ = Buffer<std::complex<T>>(context.exec, size, "modes");
  values_.shrink(layout_.size);
}

template <class T>
Modes<T> to_modes(const Context& context, const Field<T>& field) {
  return finish_together(context, [&] {
    Modes<T> modes(context, field.decomposition());
    FieldTransform<T>(context, field.decomposition()).forward(field, modes);
    return modes;
  });
}

template <class T>
void to_field(const Context& context, const Modes<T>& modes, Field<T>& field) {
  finish_together(
      context, [&] { FieldTransform<T>(context, modes.decomposition()).backward(modes, field); });
}

template <class T>
void to_field(const Context& context, Modes<T>&& modes, Field<T>& field) {
  finish_together(context, [&] {
    FieldTransform<T>(context, modes.decomposition()).backward(std::move(modes), field);
  });
}

template <class T>
Modes<T> copy_of(const Context& context, const Modes<T>& modes) {
  const PhaseTimer timer(context, "modes");
  Modes<T> copy(context, modes.decomposition());
  queue_copy(context.exec, copy.span().data(), modes.span().data(),
             static_cast<std::size_t>(modes.span().size()) * sizeof(std::complex<T>));
  return copy;
}

template class Modes<float>;
template class Modes<double>;
ZHALO_FOR_REALS(to_modes);
template void to_field(const Context&, const Modes<float>&, Field<float>&);
template void to_field(const Context&, const Modes<double>&, Field<double>&);
template void to_field(const Context&, Modes<float>&&, Field<float>&);
template void to_field(const Context&, Modes<double>&&, Field<double>&);
ZHALO_FOR_REALS(copy_of);

namespace {

/// sin(x) / x.
double sinc(double x) { return x == 0 ? 1 : std::sin(x) / x; }

/// Calls kernel(exec, modes, numbers of each axis).
template <class T, class Kernel>
void run(const Context& context, Modes<T>& modes, const AxisFunction& function,
         const Kernel& kernel) {
  if (modes.layout().size == 0) return;
  const PhaseTimer timer(context, "modes");
  const ModeTables tables(context.exec, modes.decomposition().grid(), modes.layout(), function);
  kernels::on(context.exec, [&](const auto& exec) { kernel(exec, view_of(modes), tables.view()); });
}

/// Multiplies each mode by the product of the axes' factors.
template <class T>
void multiply(const Context& context, Modes<T>& modes, const AxisFunction& factor) {
  run(context, modes, factor, [](const auto& exec, const auto& view, const auto& tables) {
    kernels::multiply_modes(exec, view, tables);
  });
}

void validate_radius(double radius) {
  validate(std::isfinite(radius) && radius >= 0,
           "a field is to be smoothed with radius {} (must be finite and not negative)", radius);
}

/// Power of white noise behind the window, aliases included; s2 is the square of sin(k h / 2).
double white_noise_power(Window window, double s2) {
  switch (window) {
    case Window::ngp: return 1;
    case Window::cic: return 1 - 2.0 / 3 * s2;
    case Window::tsc: return 1 - s2 + 2.0 / 15 * s2 * s2;
    default: return 1 - 4.0 / 3 * s2 + 2.0 / 5 * s2 * s2 - 4.0 / 315 * s2 * s2 * s2;
  }
}

/// What -k^2 along an axis becomes, without the sign.
double laplacian_term(const Grid& grid, Laplacian laplacian, int axis, Index wave) {
  const double k = wave_number(grid, axis, wave);
  const double phase = phase_per_cell(grid, axis, wave);
  const double half = sinc(phase / 2) * sinc(phase / 2);
  switch (laplacian) {
    case Laplacian::exact: return k * k;
    case Laplacian::fd2: return k * k * half;
    default: return k * k * (4.0 / 3 * half - 1.0 / 3 * sinc(phase) * sinc(phase));
  }
}

/// What i k along an axis becomes, without i.
double derivative_factor(const Grid& grid, Derivative derivative, int axis, Index wave) {
  if (is_nyquist(wave, grid.num[axis])) return 0;
  const double spacing = grid.spacing(axis);
  const double phase = phase_per_cell(grid, axis, wave);
  switch (derivative) {
    case Derivative::exact: return wave_number(grid, axis, wave);
    case Derivative::fd2: return std::sin(phase) / spacing;
    default: return (8 * std::sin(phase) - std::sin(2 * phase)) / (6 * spacing);
  }
}

}  // namespace

AxisFunction compensation_of(const Grid& grid, Window window, Compensation compensation) {
  validate(order_of(window) >= 1 && order_of(window) <= 4, "a window has order {} (must be 1 to 4)",
           order_of(window));
  validate_enumerator(compensation, Compensation::shot_noise, "the compensation");
  if (compensation == Compensation::none) return {};
  return [grid, window, compensation](int axis, Index wave) {
    const double half_phase = phase_per_cell(grid, axis, wave) / 2;
    if (compensation == Compensation::window)
      return 1 / std::pow(sinc(half_phase), order_of(window));
    return 1 / std::sqrt(white_noise_power(window, std::sin(half_phase) * std::sin(half_phase)));
  };
}

template <class T>
void smooth_gaussian(const Context& context, Modes<T>& modes, double radius) {
  validate_radius(radius);
  const Grid& grid = modes.decomposition().grid();
  multiply(context, modes, [&](int axis, Index wave) {
    const double x = wave_number(grid, axis, wave) * radius;
    return std::exp(-x * x / 2);
  });
}

template <class T>
void smooth_top_hat(const Context& context, Modes<T>& modes, double radius) {
  validate_radius(radius);
  const Grid& grid = modes.decomposition().grid();
  const auto square = [&](int axis, Index wave) {
    const double x = wave_number(grid, axis, wave) * radius;
    return x * x;
  };
  run(context, modes, square, [](const auto& exec, const auto& view, const auto& tables) {
    kernels::smooth_modes_top_hat(exec, view, tables);
  });
}

template <class T>
void compensate(const Context& context, Modes<T>& modes, Window window, Compensation compensation) {
  const AxisFunction factor = compensation_of(modes.decomposition().grid(), window, compensation);
  if (factor) multiply(context, modes, factor);
}

template <class T>
void remove_nyquist(const Context& context, Modes<T>& modes) {
  const Grid& grid = modes.decomposition().grid();
  multiply(context, modes,
           [&](int axis, Index wave) { return is_nyquist(wave, grid.num[axis]) ? 0 : 1; });
}

template <class T>
void solve_poisson(const Context& context, Modes<T>& modes, Laplacian laplacian) {
  validate_enumerator(laplacian, Laplacian::fd4, "the Laplacian");
  const Grid& grid = modes.decomposition().grid();
  const auto term = [&](int axis, Index wave) {
    return laplacian_term(grid, laplacian, axis, wave);
  };
  run(context, modes, term, [](const auto& exec, const auto& view, const auto& tables) {
    kernels::divide_modes_by_minus(exec, view, tables);
  });
}

template <class T>
void differentiate(const Context& context, Modes<T>& modes, int axis, Derivative derivative) {
  validate(axis >= 0 && axis < 3,
           "a field is to be differentiated along axis {} (must be 0, 1 or 2)", axis);
  validate_enumerator(derivative, Derivative::fd4, "the derivative");
  const Grid& grid = modes.decomposition().grid();
  fundamental(grid, axis);  // throws where there is no wave
  const auto factor = [&](int other, Index wave) {
    return other == axis ? derivative_factor(grid, derivative, axis, wave) : 1;
  };
  run(context, modes, factor, [](const auto& exec, const auto& view, const auto& tables) {
    kernels::multiply_modes_by_i(exec, view, tables);
  });
}

template <class T>
void differentiate_twice(const Context& context, Modes<T>& modes, int axis) {
  const Grid& grid = modes.decomposition().grid();
  multiply(context, modes, [&](int other, Index wave) {
    return other == axis ? -laplacian_term(grid, Laplacian::exact, axis, wave) : 1;
  });
}

template <class T>
void scale(const Context& context, Modes<T>& modes, double factor) {
  if (modes.layout().size == 0) return;
  const PhaseTimer timer(context, "modes");
  kernels::on(context.exec,
              [&](const auto& exec) { kernels::scale_modes(exec, view_of(modes), factor); });
}

template <class T>
void add(const Context& context, Modes<T>& modes, const Modes<T>& other, double factor) {
  validate_same(modes.decomposition(), other.decomposition(), "the modes that are to be added");
  if (modes.layout().size == 0) return;
  const PhaseTimer timer(context, "modes");
  kernels::on(context.exec, [&](const auto& exec) {
    kernels::add_modes(exec, view_of(modes), parts_of(other), factor);
  });
}

template <class T>
void interlace(const Context& context, Modes<T>& modes, const Modes<T>& shifted) {
  if (modes.layout().size == 0) return;
  const PhaseTimer timer(context, "modes");
  // A wave exp(i k x) read half a cell further up is turned by k h / 2, and its images n sampling
  // frequencies away by n pi more.
  const Grid& grid = modes.decomposition().grid();
  const auto tables_of = [&](const auto& part) {
    return ModeTables(context.exec, grid, modes.layout(), [&](int axis, Index wave) {
      return part(-phase_per_cell(grid, axis, wave) / 2);
    });
  };
  const ModeTables real = tables_of([](double phase) { return std::cos(phase); });
  const ModeTables imaginary = tables_of([](double phase) { return std::sin(phase); });
  const kernels::PhaseTables phases{real.view(), imaginary.view()};
  kernels::on(context.exec, [&](const auto& exec) {
    kernels::average_turned_modes(exec, view_of(modes), parts_of(shifted), phases);
  });
}

ZHALO_FOR_REALS(smooth_gaussian);
ZHALO_FOR_REALS(smooth_top_hat);
ZHALO_FOR_REALS(compensate);
ZHALO_FOR_REALS(remove_nyquist);
ZHALO_FOR_REALS(solve_poisson);
ZHALO_FOR_REALS(differentiate);
ZHALO_FOR_REALS(differentiate_twice);
ZHALO_FOR_REALS(scale);
ZHALO_FOR_REALS(add);
ZHALO_FOR_REALS(interlace);

}  // namespace zhalo
