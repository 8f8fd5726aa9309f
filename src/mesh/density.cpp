#include "zhalo/mesh/density.hpp"

#include <cmath>
#include <utility>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/mesh/mode_tables.hpp"
#include "src/mesh/painting.hpp"

namespace zhalo {
namespace {

template <class T>
void divide(const Context& context, Field<T>& field, double mean, double addend) {
  validate(std::isfinite(mean) && mean > 0,
           "a field's mean is {} (must be more than 0, for values in its units)", mean);
  const IndexBox& own = field.cells();
  if (own.empty()) return;
  const kernels::CellRows rows = cell_rows(own, field.layout(), field.layout());
  T* const cells = field.span().data() + field.layout().offset(own.lo);
  const T* const from = cells;
  kernels::on(context.exec, [&](const auto& exec) {
    kernels::map_cells(exec, rows, from, cells, {1 / mean, addend});
  });
}

template <class T>
void set_mean_to_0(const Context& context, Modes<T>& modes) {
  if (!modes.layout().index_box.contains({})) return;
  const std::complex<T> zero{};
  queue_copy(context.exec, modes.span().data() + modes.layout().offset({}), &zero, sizeof zero);
}

template <class T, class Real>
DensityModes<T> make_density_modes(const Context& context, const Decomposition& decomposition,
                                   const Particles<Real>& particles,
                                   const DensityOptions& options) {
  validate(options.paint.shift == Vec3d{},
           "density modes are of points in the middle of cells (PaintOptions::shift must be 0)");
  // First, because a box of two dimensions is not periodic along z either.
  validate_mesh(context.comm, decomposition, particles.dimensions);
  validate_periodic(decomposition.grid(), "the modes of a density are asked for");
  validate_equal(context.comm, numbers_of(options.interlaced, options.compensation),
                 "the options of density modes");
  PaintOptions paint_options = options.paint;
  paint_options.values = CellValues::overdensity;
  const Painting<Real> painting(context, decomposition, particles, paint_options);
  FieldTransform<T> transform(context, decomposition);
  const auto make_modes = [&](const Vec3d& shift) {
    Modes<T> modes(context, decomposition);
    painting.paint(transform.cells_in(modes), shift);
    transform.forward_in_place(modes);
    return modes;
  };
  Modes<T> modes = make_modes({});
  if (options.interlaced) interlace(context, modes, make_modes({{0.5, 0.5, 0.5}}));
  compensate(context, modes, options.paint.window, options.compensation);
  set_mean_to_0(context, modes);
  return {std::move(modes), painting.report()};
}

}  // namespace

template <class T, class Real>
DensityModes<T> density_modes(const Context& context, const Decomposition& decomposition,
                              const Particles<Real>& particles, const DensityOptions& options) {
  return finish_together(
      context, [&] { return make_density_modes<T>(context, decomposition, particles, options); });
}

template <class T>
void to_mean_units(const Context& context, Field<T>& field, double mean) {
  divide(context, field, mean, 0);
}

template <class T>
void to_overdensity(const Context& context, Field<T>& field, double mean) {
  divide(context, field, mean, -1);
}

ZHALO_FOR_REALS(to_mean_units);
ZHALO_FOR_REALS(to_overdensity);
#define ZHALO_DENSITY_MODES(T, Real)                                           \
  template DensityModes<T> density_modes(const Context&, const Decomposition&, \
                                         const Particles<Real>&, const DensityOptions&);
ZHALO_FOR_REAL_PAIRS(ZHALO_DENSITY_MODES)

}  // namespace zhalo
