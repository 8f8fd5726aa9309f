#include "src/c/handles.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo::c {
namespace {

PaintOptions paint_options(const zhalo_paint_options& given) {
  constexpr Window windows[] = {Window::cic, Window::ngp, Window::cic, Window::tsc, Window::pcs};
  constexpr Weights weights[] = {Weights::mass, Weights::unit};
  constexpr CellValues values[] = {CellValues::sum, CellValues::mean_units,
                                   CellValues::overdensity};
  PaintOptions options;
  options.window = windows[one_of(given.window, 4, "window")];
  options.weights = weights[one_of(given.weights, 1, "choice of weights")];
  options.values = values[one_of(given.values, 2, "choice of values")];
  return options;
}

/// Who has which cells of a grid in the domain's box.
template <class Real>
Decomposition decomposition_of(const Domain<Real>& domain, const zhalo_paint_options& given) {
  constexpr Split splits[] = {Split::automatic, Split::slab, Split::pencil};
  DecompositionOptions options;
  options.split = splits[one_of(given.split, 2, "split")];
  const Grid grid{{{given.num[0], given.num[1], given.num[2]}}, domain.box()};
  return {grid, domain.context().comm.size(), options};
}

/// What zhalo_paint() writes to.
struct Target {
  void* values;
  Index room;
};

template <class T, class Real>
PaintReport paint_cells(const Domain<Real>& domain, const zhalo_paint_options& given,
                        const Target& to) {
  const Context& context = domain.context();
  const Decomposition decomposition = decomposition_of(domain, given);
  validate_room(to.values, to.room, decomposition.cells(context.comm.rank()).size());
  Field<T> field(context, decomposition);
  const PaintReport report = paint(domain, field, paint_options(given), given.species);
  copy_out<T>(context.exec, field.span(), static_cast<T*>(to.values), to.room);
  return report;
}

/// Collective.
PaintReport paint_domain(const zhalo_domain& domain, const zhalo_paint_options& given,
                         const Target& to) {
  const Communicator& comm = domain.context->comm;
  validate_species(domain, given.species);
  const Index precision = one_of(given.precision, 1, "precision of the cells");
  validate(comm.min(precision) == comm.max(precision),
           "some ranks want cells in float and others in double; ask for one precision");
  return call_with(domain, [&](const auto& particles) {
    return precision == ZHALO_FLOAT ? paint_cells<float>(particles, given, to)
                                    : paint_cells<double>(particles, given, to);
  });
}

}  // namespace

extern "C" {

int zhalo_paint_cells(const zhalo_domain* domain, const zhalo_paint_options* options,
                      zhalo_cells* cells) {
  return status_of([&] {
    const auto cells_of = [&](const auto& particles) {
      return decomposition_of(particles, at(options, "options of painting"))
          .cells(particles.context().comm.rank());
    };
    const IndexBox own = call_with(at(domain, "domain"), cells_of);
    for (int axis = 0; axis < 3; ++axis) {
      at(cells, "cells").lo[axis] = own.lo[axis];
      cells->hi[axis] = own.hi[axis];
    }
  });
}

int zhalo_paint(const zhalo_domain* domain, const zhalo_paint_options* options, void* values,
                int64_t room, zhalo_paint_report* report) {
  return status_of([&] {
    const zhalo_domain& painted = at(domain, "domain");
    const PaintReport done = together(painted.context->comm, [&] {
      return paint_domain(painted, at(options, "options of painting"), {values, room});
    });
    if (report != nullptr) *report = {done.sum, done.mean(), done.effective_number};
  });
}

}  // extern "C"

}  // namespace zhalo::c
