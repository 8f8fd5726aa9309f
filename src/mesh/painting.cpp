#include "src/mesh/painting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/positions.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo {

// Cells as windows see them.

namespace {

/// z is never divided.
bool is_divided(const Decomposition& decomposition, int axis) {
  return axis < 2 && decomposition.shape()[static_cast<std::size_t>(axis)] > 1;
}

}  // namespace

Ghosts assignment_ghosts(const Decomposition& decomposition, Window window) {
  Ghosts ghosts;
  for (int axis = 0; axis < 3; ++axis) {
    ghosts.above[axis] = is_divided(decomposition, axis) ? order_of(window) - 1 : 0;
    ghosts.periodic[axis] = decomposition.grid().box.periodic[axis];
  }
  return ghosts;
}

kernels::MeshCells mesh_cells(const Decomposition& decomposition, int rank,
                              const AssignmentFrame& frame, const BoxLayout& layout) {
  const Grid& grid = decomposition.grid();
  const IndexBox own = decomposition.cells(rank);
  kernels::MeshCells cells;
  cells.order = order_of(frame.window);
  for (int a = 0; a < 3; ++a) {
    kernels::MeshAxis& axis = cells.axis[a];
    axis.lo = grid.box.lo[a];
    axis.length = grid.box.length[a];
    axis.cells_per_length = static_cast<double>(grid.num[a]) / grid.box.length[a];
    axis.offset = 0.5 + frame.shift[a];
    axis.num = grid.num[a];
    axis.periodic = grid.box.periodic[a];
    axis.first = own.lo[a];
    axis.stride = layout.stride[a];
    axis.wraps = axis.periodic && !is_divided(decomposition, a);
    axis.num_own = own.length(a);
  }
  return cells;
}

kernels::CellRows cell_rows(const IndexBox& index_box, const BoxLayout& from, const BoxLayout& to) {
  kernels::CellRows rows;
  for (int axis = 0; axis < 3; ++axis) rows.num[axis] = index_box.length(axis);
  for (int axis = 0; axis < 2; ++axis) {
    rows.from_stride[axis] = from.stride[axis];
    rows.to_stride[axis] = to.stride[axis];
  }
  return rows;
}

void validate_mesh(const Communicator& comm, const Decomposition& decomposition, int dimensions) {
  const Box& box = decomposition.grid().box;
  validate(dimensions == 3, "particles of {} dimensions on a mesh (must have 3)", dimensions);
  validate_box(box, dimensions);
  for (int axis = 0; axis < 3; ++axis) {
    validate(box.length[axis] > 0,
             "the box of a mesh has no length along {}; give the box that the mesh fills",
             "xyz"[axis]);
  }
  validate(decomposition.num_ranks() == comm.size(),
           "a mesh is divided for {} ranks, but there are {} (make the decomposition for as many)",
           decomposition.num_ranks(), comm.size());
}

void validate_window(Window window) {
  const int order = order_of(window);
  validate(order >= 1 && order <= 4,
           "a window of order {} (must be 1, 2, 3 or 4: ngp, cic, tsc, pcs)", order);
}

// Painting.

namespace {

bool has_column(Weights weights) {
  return weights == Weights::column || weights == Weights::mass_column;
}

void validate_options(const Communicator& comm, const Decomposition& decomposition,
                      const PaintOptions& options, Index num) {
  validate_window(options.window);
  validate_enumerator(options.weights, Weights::mass_column, "PaintOptions::weights");
  validate_enumerator(options.values, CellValues::overdensity, "PaintOptions::values");
  for (int axis = 0; axis < 3; ++axis)
    validate(std::abs(options.shift[axis]) <= 1,
             "the points of a mesh are shifted by {} cells along {} (must be -1 to 1)",
             options.shift[axis], "xyz"[axis]);
  validate(!has_column(options.weights) || options.column || num == 0,
           "particles are to be painted with the weights of a column, but there is none; set "
           "PaintOptions::column");
  const Grid& grid = decomposition.grid();
  validate_equal(comm,
                 numbers_of(decomposition.shape(), grid.num, grid.box, options.window,
                            options.weights, options.values, options.shift),
                 "the options of painting or the decomposition");
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

/// Units per weight of 1, the same for any order of particles on any ranks.
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
  const NumAndFirst bad = bad_of_ranks(comm, summary.num_bad, summary.first_bad, range.first);
  validate(bad.num == 0,
           "{} of {} particles have a {} not finite (NaN or infinite), the first is particle {}; "
           "remove them or repair the snapshot",
           bad.num, range.total,
           painted.weights_are_masses() ? "mass that is negative or" : "weight that is", bad.first);
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

/// Of all ranks, as they are added as whole numbers.
double sum_of(const Communicator& comm, const kernels::WideSum& squares) {
  constexpr std::uint64_t half = 0xffffffff;
  std::array<Index, 4> parts{
      static_cast<Index>(squares.low & half), static_cast<Index>(squares.low >> 32),
      static_cast<Index>(squares.high & half), static_cast<Index>(squares.high >> 32)};
  comm.sum_in_place({parts.data(), Index{parts.size()}});
  Index carried = 0;
  for (Index& part : parts) {
    part += carried;
    carried = part >> 32;
    part &= static_cast<Index>(half);
  }
  double sum = 0;
  for (std::size_t i = parts.size(); i-- > 0;) sum = sum * 0x1p32 + static_cast<double>(parts[i]);
  return sum;
}

/// Sums are units; the report of all particles but for their numbers. Collective.
template <class Real>
PaintReport measure(const Context& context, const kernels::PaintInput<Real>& painted,
                    const Looked& looked, Index& fixed_weight) {
  const kernels::WeightSums sums =
      looked.ledger ? looked.ledger->sums : kernels::on(context.exec, [&](const auto& e) {
        return kernels::sum_weights(e, painted);
      });
  fixed_weight = context.comm.sum(sums.fixed_weight);
  const double squares = sum_of(context.comm, sums.squares);
  PaintReport report;
  report.weight_unit = 1 / painted.scale;
  report.sum = static_cast<double>(fixed_weight) * report.weight_unit;
  report.sum2 = squares * report.weight_unit * report.weight_unit;
  report.effective_number =
      squares > 0 ? static_cast<double>(fixed_weight) * static_cast<double>(fixed_weight) / squares
                  : 0;
  return report;
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

}  // namespace

template <class Real>
Painting<Real>::Painting(const Context& context, const Decomposition& decomposition,
                         const Particles<Real>& particles, const PaintOptions& options)
    : context_(context),
      decomposition_(decomposition),
      options_(options),
      num_particles_([&] {
        validate_mesh(context.comm, decomposition, particles.dimensions);
        validate_options(context.comm, decomposition, options, particles.num());
        if (particles.num() > 0) validate_numbers(context.exec, options.column, "weights");
        return context.comm.sum(particles.num());
      }()),
      input_([&] {
        validate_box_fits<Real>(decomposition.grid().box);
        return SegmentTable<Real>(context.exec, particles);
      }()),
      painted_(describe(input_.view(), particles, options)) {
  const PhaseTimer timer(context, "paint");
  const DeviceMemoryScope memory = look_after_memory();
  look();
}

template <class Real>
void Painting<Real>::look() {
  const Box& box = decomposition_.grid().box;
  const Looked looked = look_at(context_, painted_, box);
  const Extent extent = examine_summary(context_, painted_.particles, box, looked.positions);
  const WeightScale scale = choose_scale(context_, extent.range, looked, painted_);
  magnitude_ = scale.magnitude;
  painted_.scale = scale.fixed_weights_per_unit;
  report_ = measure(context_, painted_, looked, fixed_weight_);
  report_.num_particles = extent.range.total;
  report_.num_wrapped = extent.num_wrapped;
  report_.num_cells = decomposition_.grid().size();
}

template <class Real>
DeviceMemoryScope Painting<Real>::look_after_memory() const {
  const SearchSize size{num_particles_, 1, std::is_same_v<Real, double>};
  const int window_order = order_of(options_.window);
  return {context_, fmt::format("{} particles that are painted", size.num_particles),
          [=, decomposition = decomposition_](int ranks) {
            return paint_need({size.num_particles, ranks, size.double_positions},
                              decomposition.mesh_size(ranks, false), window_order)
                .peak;
          }};
}

/// What units are multiplied by, and what is added.
template <class Real>
kernels::LinearMap Painting<Real>::map_to_values() const {
  if (options_.values == CellValues::sum) return {report_.weight_unit, 0};
  validate(fixed_weight_ > 0,
           "the weights of {} particles sum to {} (densities in units of the mean need a mean of "
           "more than 0)",
           report_.num_particles, report_.sum);
  // Not from the sum of the weights, which may be beyond a double.
  const double fixed_weight_per_cell =
      static_cast<double>(fixed_weight_) / static_cast<double>(report_.num_cells);
  return {1 / fixed_weight_per_cell, options_.values == CellValues::overdensity ? -1.0 : 0.0};
}

/// The cells' sums in units, where there are several ranks.
template <class Real>
Field<Index> Painting<Real>::sum_fixed_weights(const Vec3d& shift) const {
  const Exec& exec = context_.exec;
  Field<Index> sums(context_, decomposition_, assignment_ghosts(decomposition_, options_.window));
  kernels::on(exec, [&](const auto& e) { kernels::fill(e, sums.span(), Index{0}); });
  const kernels::MeshCells cells =
      mesh_cells(decomposition_, context_.comm.rank(), {options_.window, shift}, sums.layout());
  const auto deposit = [&](const RoutedPart<Real>& part) {
    kernels::on(exec,
                [&](const auto& e) { kernels::deposit(e, part.painted, cells, sums.span()); });
  };
  for_each_routed<Real>(context_, decomposition_, {painted_, cells, true}, deposit);
  sums.push_ghosts();
  return sums;
}

/// Returns all units of this rank's cells.
template <class Real>
template <class T>
Index Painting<Real>::paint_units(const OwnCells<T>& cells, const Vec3d& shift) const {
  const kernels::PaintTarget<T> target{
      cells.first, {cells.stride[0], cells.stride[1]}, map_to_values()};
  if (context_.comm.size() > 1) return put_into(context_, sum_fixed_weights(shift), target);
  const kernels::MeshCells all =
      mesh_cells(decomposition_, 0, {options_.window, shift}, layout_of(decomposition_.cells(0)));
  return kernels::on(context_.exec,
                     [&](const auto& e) { return kernels::paint_cells(e, painted_, all, target); });
}

template <class Real>
template <class T>
void Painting<Real>::paint(const OwnCells<T>& cells, const Vec3d& shift) const {
  const PhaseTimer timer(context_, "paint");
  const DeviceMemoryScope memory = look_after_memory();
  validate(options_.values != CellValues::sum ||
               magnitude_ <= static_cast<double>(std::numeric_limits<T>::max()),
           "the weights' magnitudes sum up to as much as {:.3g}, more than the field's type can "
           "hold; use a field of double, other units, or values in units of the mean",
           magnitude_);
  const Index painted = context_.comm.sum(paint_units(cells, shift));
  if (painted != fixed_weight_)
    throw Error(
        fmt::format("painting put {} of {} units of weight into the cells: an error of zhalo, "
                    "please report it",
                    painted, fixed_weight_));
}

template class Painting<float>;
template class Painting<double>;
template void Painting<float>::paint(const OwnCells<float>&, const Vec3d&) const;
template void Painting<float>::paint(const OwnCells<double>&, const Vec3d&) const;
template void Painting<double>::paint(const OwnCells<float>&, const Vec3d&) const;
template void Painting<double>::paint(const OwnCells<double>&, const Vec3d&) const;

template <class T, class Real>
PaintReport paint(const Context& context, const Particles<Real>& particles, Field<T>& field,
                  const PaintOptions& options) {
  return together(context, [&] {
    const Painting<Real> painting(context, field.decomposition(), particles, options);
    context.comm.together([&] { validate_field(context.comm, field); });
    if (field.layout().size != field.cells().size())  // ghosts become 0
      kernels::on(context.exec, [&](const auto& e) { kernels::fill(e, field.span(), T{0}); });
    painting.paint(own_cells(field), options.shift);
    return painting.report();
  });
}

#define ZHALO_PAINT(T, Real)                                                    \
  template PaintReport paint(const Context&, const Particles<Real>&, Field<T>&, \
                             const PaintOptions&);
ZHALO_FOR_REAL_PAIRS(ZHALO_PAINT)

}  // namespace zhalo
