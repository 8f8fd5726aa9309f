#include "zhalo/mesh/paint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/domain/positions.hpp"
#include "src/mesh/painted_cells.hpp"
#include "src/mesh/particle_route.hpp"
#include "zhalo/comm/device_memory.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo {
namespace {

bool has_column(Weights weights) {
  return weights == Weights::column || weights == Weights::mass_column;
}

void validate_options(const Communicator& comm, const Decomposition& decomposition,
                      const PaintOptions& options, Index num) {
  validate_window(options.window);
  for (int axis = 0; axis < 3; ++axis)
    validate(std::abs(options.shift[axis]) <= 1,
             "the points of a mesh are shifted by {} cells along {} (must be -1 to 1)",
             options.shift[axis], "xyz"[axis]);
  validate(!has_column(options.weights) || options.column || num == 0,
           "particles are to be painted with the weights of a column, but there is none; set "
           "PaintOptions::column");
  std::vector<Index> numbers = numbers_of(decomposition);
  numbers.insert(numbers.end(), {order_of(options.window), static_cast<Index>(options.weights),
                                 static_cast<Index>(options.values)});
  for (int axis = 0; axis < 3; ++axis) numbers.push_back(bits_of(options.shift[axis]));
  validate_equal(comm, numbers, "the options of painting or the decomposition");
}

template <class Real>
kernels::PaintInput<Real> describe(const kernels::ParticlesView<Real>& view,
                                   const Particles<Real>& particles, const PaintOptions& options) {
  kernels::PaintInput<Real> painted;
  painted.particles = view;
  painted.by_mass = options.weights == Weights::mass || options.weights == Weights::mass_column;
  if (has_column(options.weights)) painted.column = options.column;
  bool has_masses = false;
  for (const ParticleSegment<Real>& segment : particles.segments)
    has_masses = has_masses || (segment.num > 0 && segment.mass);
  painted.is_uniform = !painted.column && !(painted.by_mass && has_masses);
  return painted;
}

/// What is known of the particles of one rank before the ranks compare.
struct Looked {
  kernels::PositionSummary positions;
  kernels::WeightSummary weights;
  /// Of particles with different weights that no other rank has: the scale and the sums, too.
  std::optional<kernels::WeightLedger> ledger;
};
template <class Real>
Looked look_at(const Context& context, const kernels::PaintInput<Real>& painted, const Box& box) {
  return kernels::on(context.exec, [&](const auto& e) -> Looked {
    if (context.comm.size() > 1 || painted.is_uniform || painted.particles.num == 0)
      return {kernels::summarize_positions(e, painted.particles, box),
              kernels::summarize_weights(e, painted),
              {}};
    struct Found {
      kernels::PositionSummary positions;
      kernels::WeightLedger weights;
    };
    Buffer<Found> there(context.exec, 1, "what is found of particles");
    kernels::queue_position_summary(e, painted.particles, box, &there.data()->positions);
    kernels::queue_weights(e, painted, &there.data()->weights);
    const Found found = to_host(context.exec, there).front();
    return {found.positions, found.weights.summary, found.weights};
  });
}

/// Units per weight of 1, the same for any order and place of particles.
struct WeightScale {
  double fixed_weights_per_unit = 1;
  double magnitude = 0;  ///< that the magnitudes of all weights together do not exceed
};
/// Collective.
template <class Real>
WeightScale choose_scale(const Context& context, const GlobalRange& range, const Looked& looked,
                         kernels::PaintInput<Real> painted) {
  const Communicator& comm = context.comm;
  const kernels::WeightSummary& summary = looked.weights;
  const Index num_bad = comm.sum(summary.num_not_finite);
  const Index first_bad =
      comm.min(summary.num_not_finite > 0 ? range.first + summary.first_not_finite
                                          : std::numeric_limits<Index>::max());
  validate(num_bad == 0,
           "{} of {} particles have a weight that is not finite (NaN or infinite), the first is "
           "particle {}; remove them or "
           "repair the snapshot",
           num_bad, range.total, first_bad);
  const double largest = comm.max(summary.largest);
  if (largest == 0) return {};
  if (looked.ledger)
    return {looked.ledger->scale,
            static_cast<double>(looked.ledger->bound) / looked.ledger->scale_of_bound};
  const int estimate = kernels::estimate_exponent(largest, range.total);
  painted.scale = std::ldexp(1.0, estimate);
  const Index bound = comm.sum(
      kernels::on(context.exec, [&](const auto& e) { return kernels::bound_weights(e, painted); }));
  return {std::ldexp(1.0, kernels::choose_exponent(largest, estimate, bound)),
          static_cast<double>(bound) / painted.scale};
}

/// The cells' sums in units, where there are several ranks. Collective.
template <class Real>
Field<Index> sum_fixed_weights(const Context& context, const Decomposition& decomposition,
                               const kernels::PaintInput<Real>& painted,
                               const PaintOptions& options) {
  const Exec& exec = context.exec;
  Field<Index> sums(context, decomposition, assignment_ghosts(decomposition, options.window));
  kernels::on(exec, [&](const auto& e) { kernels::clear(e, sums.span()); });
  const kernels::MeshCells cells = mesh_cells(decomposition, context.comm.rank(),
                                              {options.window, options.shift}, sums.layout());
  const auto deposit = [&](const kernels::PaintInput<Real>& which) {
    kernels::on(exec, [&](const auto& e) { kernels::deposit(e, which, cells, sums.span()); });
  };
  for_each_routed<Real>(context, decomposition, {painted, cells, true},
                        [&](const RoutedPart<Real>& part) { deposit(part.painted); });
  sums.push_ghosts();
  return sums;
}

/// What units are multiplied by, and what is added.
kernels::LinearMap map_to(CellValues values, const PaintReport& report) {
  if (values == CellValues::sum) return {report.weight_unit, 0};
  validate(report.sum > 0,
           "the weights of {} particles sum to {} (densities in units of the mean need a mean of "
           "more than 0)",
           report.num_particles, report.sum);
  const double fixed_weight_per_cell =
      report.sum / report.weight_unit / static_cast<double>(report.num_cells);
  return {1 / fixed_weight_per_cell, values == CellValues::overdensity ? -1.0 : 0.0};
}

/// Where the field's own cells are. Ghosts become 0.
template <class T>
kernels::PaintTarget<T> target_in(const Context& context, Field<T>& field,
                                  const kernels::LinearMap& map) {
  const BoxLayout& layout = field.layout();
  if (layout.size != field.cells().size())
    kernels::on(context.exec, [&](const auto& e) { kernels::clear(e, field.span()); });
  T* const first = field.span().data() + layout.offset(field.cells().lo);
  return {first, {layout.stride[0], layout.stride[1]}, map};
}

/// Returns all units of this rank's cells. What was queued before is done.
template <class T>
Index put_into(const Context& context, const Field<Index>& sums,
               const kernels::PaintTarget<T>& target) {
  const PhaseTimer timer(context, "cells");
  const IndexBox& own = sums.cells();
  kernels::CellRows rows = cell_rows(own, sums.layout(), sums.layout());
  std::copy_n(target.stride, 2, rows.to_stride);
  const Index* from = sums.span().data() + sums.layout().offset(own.lo);
  if (own.empty()) synchronise(context.exec);
  return kernels::on(context.exec, [&](const auto& e) {
    return kernels::write_fixed_weights(e, rows, from, target.first, target.map);
  });
}

/// The particles of all ranks to the field's cells. Returns all units of this rank's. Collective.
template <class T, class Real>
Index paint_units(const Context& context, const kernels::PaintInput<Real>& painted,
                  const kernels::LinearMap& map, const PaintOptions& options, Field<T>& field) {
  const Decomposition& decomposition = field.decomposition();
  const kernels::PaintTarget<T> target = target_in(context, field, map);
  if (context.comm.size() > 1) {
    const Field<Index> sums = sum_fixed_weights(context, decomposition, painted, options);
    return put_into(context, sums, target);
  }
  const kernels::MeshCells cells =
      mesh_cells(decomposition, 0, {options.window, options.shift}, layout_of(field.cells()));
  return kernels::on(
      context.exec, [&](const auto& e) { return kernels::paint_cells(e, painted, cells, target); });
}

/// Sums are units; the report of all particles but for their number and places. Collective.
template <class Real>
PaintReport measure(const Context& context, const kernels::PaintInput<Real>& painted,
                    const Looked& looked, Index& fixed_weight) {
  const kernels::WeightSums sums =
      looked.ledger ? looked.ledger->sums : kernels::on(context.exec, [&](const auto& e) {
        return kernels::sum_weights(e, painted);
      });
  fixed_weight = context.comm.sum(sums.fixed_weight);
  const double squares = context.comm.sum(sums.squares);
  PaintReport report;
  report.weight_unit = 1 / painted.scale;
  report.sum = static_cast<double>(fixed_weight) * report.weight_unit;
  report.sum2 = squares * report.weight_unit * report.weight_unit;
  report.effective_number =
      squares > 0 ? static_cast<double>(fixed_weight) * static_cast<double>(fixed_weight) / squares
                  : 0;
  return report;
}

template <class T, class Real>
PaintReport paint_checked(const Context& context, const Particles<Real>& particles, Field<T>& field,
                          const PaintOptions& options) {
  const PhaseTimer timer(context, "paint");
  const Decomposition& decomposition = field.decomposition();
  validate_box_fits<Real>(decomposition.grid().box);
  const SegmentTable<Real> input(context.exec, particles);
  kernels::PaintInput<Real> painted = describe(input.view(), particles, options);
  const Looked looked = look_at(context, painted, decomposition.grid().box);
  const Extent extent = examine_summary(context, painted.particles.num, looked.positions);
  const WeightScale scale = choose_scale(context, extent.range, looked, painted);
  validate(options.values != CellValues::sum ||
               scale.magnitude <= static_cast<double>(std::numeric_limits<T>::max()),
           "the weights' magnitudes sum up to as much as {:.3g}, more than the field's type can "
           "hold; use a field of double, other "
           "units, or CellValues::mean_units",
           scale.magnitude);
  painted.scale = scale.fixed_weights_per_unit;

  Index fixed_weight = 0;
  PaintReport report = measure(context, painted, looked, fixed_weight);
  report.num_particles = extent.range.total;
  report.num_wrapped = extent.num_wrapped;
  report.num_cells = decomposition.grid().size();
  const kernels::LinearMap map = map_to(options.values, report);
  const Index painted_fixed_weight =
      context.comm.sum(paint_units(context, painted, map, options, field));
  if (painted_fixed_weight != fixed_weight)
    throw Error(
        fmt::format("painting put {} of {} units of weight into the cells: an error of zhalo, "
                    "please report it",
                    painted_fixed_weight, fixed_weight));
  return report;
}

/// `size`: of all particles.
DeviceMemoryScope look_after_memory(const Context& context, const SearchSize& size,
                                    const GridIndex& num, int window_order) {
  return {context, fmt::format("{} particles that are painted", size.num_particles),
          [=](int ranks) {
            return paint_need({size.num_particles, ranks, size.double_positions}, {num, ranks},
                              window_order)
                .peak;
          }};
}

}  // namespace

template <class T, class Real>
PaintReport paint(const Context& context, const Particles<Real>& particles, Field<T>& field,
                  const PaintOptions& options) {
  return together(context.comm, [&] {
    validate_mesh(context.comm, field.decomposition(), particles.dimensions);
    validate_options(context.comm, field.decomposition(), options, particles.num());
    if (particles.num() > 0) validate_memory(context.exec, options.column.data(), "weights");
    const DeviceMemoryScope memory = look_after_memory(
        context, {context.comm.sum(particles.num()), 1, std::is_same_v<Real, double>},
        field.decomposition().grid().num, order_of(options.window));
    return paint_checked(context, particles, field, options);
  });
}

template PaintReport paint(const Context&, const Particles<float>&, Field<float>&,
                           const PaintOptions&);
template PaintReport paint(const Context&, const Particles<float>&, Field<double>&,
                           const PaintOptions&);
template PaintReport paint(const Context&, const Particles<double>&, Field<float>&,
                           const PaintOptions&);
template PaintReport paint(const Context&, const Particles<double>&, Field<double>&,
                           const PaintOptions&);

}  // namespace zhalo
