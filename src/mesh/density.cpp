#include "zhalo/mesh/density.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/mesh/field_transform.hpp"
#include "src/mesh/mode_tables.hpp"
#include "src/mesh/painted_cells.hpp"

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

/// Meshes of one kind, painted and transformed one after the other.
template <class T>
class DensityTransform {
 public:
  DensityTransform(const Context& context, const Decomposition& decomposition)
      : context_(context), field_(context, decomposition), transform_(context, decomposition) {}

  template <class Real>
  PaintReport paint_field(const Particles<Real>& particles, PaintOptions options) {
    options.values = CellValues::overdensity;
    return paint(context_, particles, field_, options);
  }
  void make_modes(Modes<T>& modes) { transform_.forward(field_, modes); }

 private:
  const Context& context_;
  Field<T> field_;
  FieldTransform<T> transform_;
};

template <class T, class Real>
DensityModes<T> make_density_modes(const Context& context, const Decomposition& decomposition,
                                   const Particles<Real>& particles,
                                   const DensityOptions& options) {
  validate(options.paint.shift == Vec3d{},
           "density modes are of points in the middle of cells (PaintOptions::shift must be 0)");
  validate_periodic(decomposition.grid(), "the modes of a density are asked for");
  DensityTransform<T> transform(context, decomposition);
  // Where there are two meshes, the first one's modes come before its cells' sums: so the sums of
  // the second one find the same room.
  std::optional<Modes<T>> modes;
  if (options.interlaced) modes.emplace(context, decomposition);
  const PaintReport report = transform.paint_field(particles, options.paint);
  if (!options.interlaced) modes.emplace(context, decomposition);
  transform.make_modes(*modes);
  if (options.interlaced) {
    PaintOptions second = options.paint;
    second.shift = {{0.5, 0.5, 0.5}};
    static_cast<void>(transform.paint_field(particles, second));
    Modes<T> shifted(context, decomposition);
    transform.make_modes(shifted);
    interlace(context, *modes, shifted);
  }
  compensate(context, *modes, options.paint.window, options.compensation);
  set_mean_to_0(context, *modes);
  return {std::move(*modes), report};
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

template void to_mean_units(const Context&, Field<float>&, double);
template void to_mean_units(const Context&, Field<double>&, double);
template void to_overdensity(const Context&, Field<float>&, double);
template void to_overdensity(const Context&, Field<double>&, double);
template DensityModes<float> density_modes(const Context&, const Decomposition&,
                                           const Particles<float>&, const DensityOptions&);
template DensityModes<float> density_modes(const Context&, const Decomposition&,
                                           const Particles<double>&, const DensityOptions&);
template DensityModes<double> density_modes(const Context&, const Decomposition&,
                                            const Particles<float>&, const DensityOptions&);
template DensityModes<double> density_modes(const Context&, const Decomposition&,
                                            const Particles<double>&, const DensityOptions&);

}  // namespace zhalo
