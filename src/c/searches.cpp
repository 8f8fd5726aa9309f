#include <type_traits>

#include "src/c/handles.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo::c {
namespace {

KnnOptions knn_options(const zhalo_neighbour_options& given) {
  KnnOptions options;
  if (given.k != 0) options.k = given.k;
  options.include_self = given.exclude_self == 0;
  if (given.max_radius != 0) options.max_radius = given.max_radius;
  return options;
}

/// Copies the distances of lists whose distances are `T`.
template <class T>
void copy_distances(const zhalo_neighbours& from, T* to, Index room) {
  const auto* lists = std::get_if<KnnResult<T>>(&from.lists);
  validate(lists != nullptr,
           "distances have the precision of the positions, and were asked for in the other one");
  copy_in_caller_order<T>(from.domain, lists->distance.span(), lists->k, to, room);
}

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
  const PaintReport report = paint(context, domain.particles(), field, paint_options(given));
  copy_out<T>(context.exec, field.span(), static_cast<T*>(to.values), to.room);
  return report;
}

/// Collective.
PaintReport paint_domain(const zhalo_domain& domain, const zhalo_paint_options& given,
                         const Target& to) {
  const Communicator& comm = domain.context->comm;
  const Index precision = one_of(given.precision, 1, "precision of the cells");
  validate(comm.min(precision) == comm.max(precision),
           "some ranks want cells in float and others in double; ask for one precision");
  return std::visit(
      [&](const auto& particles) {
        return precision == ZHALO_FLOAT ? paint_cells<float>(particles, given, to)
                                        : paint_cells<double>(particles, given, to);
      },
      domain.particles);
}

}  // namespace

extern "C" {

int zhalo_find_neighbours(const zhalo_domain* domain, const zhalo_neighbour_options* options,
                          zhalo_neighbours** neighbours) {
  if (neighbours != nullptr) *neighbours = nullptr;
  return status_of([&] {
    const zhalo_domain& among = at(domain, "domain");
    const KnnOptions chosen = knn_options(options_or_default(options));
    make_handle(among.context, neighbours, [&] {
      zhalo_neighbours made{among, {}};
      std::visit([&](const auto& particles) { made.lists = knn(particles, chosen); },
                 among.particles);
      return made;
    });
  });
}

int zhalo_neighbours_get_distances(const zhalo_neighbours* neighbours, int precision,
                                   void* distances, int64_t room) {
  return status_of([&] {
    const zhalo_neighbours& from = at(neighbours, "neighbours");
    from.domain.context->comm.together([&] {
      if (one_of(precision, 1, "precision of distances") == ZHALO_FLOAT)
        copy_distances(from, static_cast<float*>(distances), room);
      else
        copy_distances(from, static_cast<double*>(distances), room);
    });
  });
}

int zhalo_neighbours_get_indices(const zhalo_neighbours* neighbours, int64_t* indices,
                                 int64_t room) {
  return status_of([&] {
    const zhalo_neighbours& from = at(neighbours, "neighbours");
    std::visit(
        [&](const auto& lists) {
          copy_in_caller_order<Index>(from.domain, lists.index.span(), lists.k, indices, room);
        },
        from.lists);
  });
}

void zhalo_neighbours_destroy(zhalo_neighbours* neighbours) { delete neighbours; }

int zhalo_paint_cells(const zhalo_domain* domain, const zhalo_paint_options* options,
                      zhalo_cells* cells) {
  return status_of([&] {
    const auto cells_of = [&](const auto& particles) {
      return decomposition_of(particles, at(options, "options of painting"))
          .cells(particles.context().comm.rank());
    };
    const IndexBox own = std::visit(cells_of, at(domain, "domain").particles);
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
