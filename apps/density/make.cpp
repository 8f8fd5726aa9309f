#include "apps/density/make.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "apps/cli/on_host.hpp"

namespace zhalo::density_app {
namespace {

bool field_is_painted(const Options& options) {
  return needs_field(options) && !options.interlaced &&
         field_compensation(options) == Compensation::none;
}

/// The overdensity becomes the density in units of the mean.
void set_mean_to_one(const Context& context, Modes<float>& modes) {
  const GridIndex mean{};
  if (!modes.layout().index_box.contains(mean)) return;
  const std::complex<float> one = 1;
  copy_bytes(context.exec, modes.span().data() + modes.layout().offset(mean), &one, sizeof one);
}

Field<float> compensated_field(const Context& context, Modes<float>& modes,
                               const Options& options) {
  compensate(context, modes, options.window, field_compensation(options));
  set_mean_to_one(context, modes);
  Field<float> field(context, modes.decomposition());
  to_field(context, modes, field);
  return field;
}

}  // namespace

template <class Real>
Made paint_density(const Context& context, const Particles<Real>& particles, const Plan& plan) {
  const Options& options = plan.options;
  const Decomposition decomposition(plan.grid, context.comm.size());
  PaintOptions paint_options;
  paint_options.window = options.window;
  paint_options.weights = options.by_number ? Weights::unit : Weights::mass;
  Made made;
  if (field_is_painted(options)) {
    made.field.emplace(context, decomposition);
    paint_options.values = CellValues::mean_units;
    made.painted = paint(context, particles, *made.field, paint_options);
    return made;
  }
  DensityModes<float> density =
      density_modes<float>(context, decomposition, particles,
                           {.paint = paint_options, .interlaced = options.interlaced});
  made.painted = density.report;
  made.modes.emplace(std::move(density.modes));
  return made;
}

template Made paint_density(const Context&, const Particles<float>&, const Plan&);
template Made paint_density(const Context&, const Particles<double>&, const Plan&);

void transform_density(const Context& context, const Plan& plan, Made& made) {
  const Options& options = plan.options;
  const bool wants_modes = !options.power.empty();
  if (made.field) {
    if (wants_modes) made.modes.emplace(to_modes(context, *made.field));
    return;
  }
  if (!needs_field(options)) return;
  if (wants_modes) {
    Modes<float> copy = copy_of(context, *made.modes);
    made.field.emplace(compensated_field(context, copy, options));
  } else {
    made.field.emplace(compensated_field(context, *made.modes, options));
    made.modes.reset();
  }
}

FieldNumbers numbers_of(const Context& context, const Field<float>& field) {
  const app::OnHost<float> cells(context.exec, field.span());
  double min = std::numeric_limits<double>::infinity(), max = -min, squares = 0;
  for (const float cell : cells.view()) {
    const double value = cell;
    min = std::min(min, value);
    max = std::max(max, value);
    squares += (value - 1) * (value - 1);
  }
  const Communicator& comm = context.comm;
  const auto num = static_cast<double>(field.decomposition().grid().size());
  return {comm.min(min), comm.max(max), std::sqrt(comm.sum(squares) / num)};
}

}  // namespace zhalo::density_app
