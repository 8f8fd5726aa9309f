#include "src/mesh/painting.hpp"

#include <algorithm>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/positions.hpp"

namespace zhalo {
namespace {

template <class T>
void validate_fields(const Communicator& comm, const std::vector<const Field<T>*>& fields,
                     Window window, int dimensions) {
  validate(!fields.empty() && std::find(fields.begin(), fields.end(), nullptr) == fields.end(),
           "no field to read, or a null pointer for one (give at least one field)");
  validate_window(window);
  const Decomposition& decomposition = fields.front()->decomposition();
  validate_mesh(comm, decomposition, dimensions);
  for (const Field<T>* field : fields) {
    validate(field->decomposition() == decomposition,
             "fields of different decompositions are to be read together (read them one by one)");
  }
  comm.together([&] {
    for (const Field<T>* field : fields) validate_field(comm, *field);
  });
  const Grid& grid = decomposition.grid();
  validate_equal(comm, numbers_of(decomposition.shape(), grid.num, grid.box, fields.size(), window),
                 "the fields that are read, or the window");
}

/// The own cells of a field in a new one with the ghosts that windows need.
template <class T>
Field<T> with_assignment_ghosts(const Context& context, const Field<T>& field, Window window) {
  Field<T> copy(context, field.decomposition(), assignment_ghosts(field.decomposition(), window));
  const IndexBox& own = field.cells();
  const kernels::CellRows rows = cell_rows(own, field.layout(), copy.layout());
  const T* from = field.span().data() + field.layout().offset(own.lo);
  T* to = copy.span().data() + copy.layout().offset(own.lo);
  kernels::on(context.exec, [&](const auto& e) { kernels::map_cells(e, rows, from, to, {1, 0}); });
  copy.pull_ghosts();
  return copy;
}

/// Values at positions on the ranks that own the cells around them, back to the caller's order.
template <class T, class Real>
class Readout {
 public:
  Readout(const Context& context, const Decomposition& decomposition, Window window,
          const kernels::ParticlesView<Real>& points)
      : context_(context), decomposition_(decomposition), window_(window), points_(points) {}

  /// One rank has all cells, maybe with ghosts.
  Buffer<T> at_home(const Field<T>& field) const {
    Buffer<T> values(context_.exec, points_.num, "values at positions");
    readout(field, points_, values.span());
    return values;
  }

  std::vector<Buffer<T>> by_routes(const std::vector<Field<T>>& fields,
                                   const RouteLimits& limits) const {
    std::vector<Buffer<T>> values;
    values.reserve(fields.size());
    for (std::size_t f = 0; f < fields.size(); ++f)
      values.emplace_back(context_.exec, points_.num, "values at positions");
    kernels::PaintInput<Real> painted;
    painted.particles = points_;
    for_each_routed<Real>(context_, decomposition_,
                          {painted, cells_of(fields.front()), false, limits},
                          [&](const RoutedPart<Real>& part) {
                            for (std::size_t f = 0; f < fields.size(); ++f) {
                              Buffer<T> there(context_.exec, part.painted.particles.num,
                                              "values at positions of other ranks");
                              readout(fields[f], part.painted.particles, there.span());
                              part.redistribution.backward(
                                  context_, {column_view(there), values[f].data() + part.first});
                            }
                          });
    return values;
  }

 private:
  kernels::MeshCells cells_of(const Field<T>& field) const {
    return mesh_cells(decomposition_, context_.comm.rank(), {window_, {}}, field.layout());
  }

  void readout(const Field<T>& field, const kernels::ParticlesView<Real>& points,
               Span<T> values) const {
    const PhaseTimer timer(context_, "readout");
    // From the first own cell on: offsets are counted from it.
    const Index before = field.layout().offset(field.cells().lo);
    const Span<const T> cells = field.span().subspan(before, field.span().size() - before);
    kernels::on(context_.exec, [&](const auto& e) {
      kernels::readout_cells(e, points, kernels::ReadoutCells<T>{cells_of(field), cells, values});
    });
  }

  const Context& context_;
  const Decomposition& decomposition_;
  Window window_;
  const kernels::ParticlesView<Real>& points_;
};

}  // namespace

template <class T, class Real>
std::vector<Buffer<T>> readout_checked(const Context& context,
                                       const std::vector<const Field<T>*>& fields,
                                       const kernels::ParticlesView<Real>& points, Window window,
                                       const RouteLimits& limits) {
  const Decomposition& decomposition = fields.front()->decomposition();
  const Readout<T, Real> sampling(context, decomposition, window, points);
  if (context.comm.size() == 1) {
    std::vector<Buffer<T>> values;
    values.reserve(fields.size());
    for (const Field<T>* field : fields) values.push_back(sampling.at_home(*field));
    return values;
  }
  std::vector<Field<T>> copies;
  copies.reserve(fields.size());
  for (const Field<T>* field : fields)
    copies.push_back(with_assignment_ghosts(context, *field, window));
  return sampling.by_routes(copies, limits);
}

template <class T, class Real>
std::vector<Buffer<T>> readout(const Context& context, const std::vector<const Field<T>*>& fields,
                               const Particles<Real>& points, Window window) {
  return finish_together(context, [&] {
    validate_fields(context.comm, fields, window, points.dimensions);
    validate_box_fits<Real>(fields.front()->decomposition().grid().box);
    const SegmentTable<Real> input(context.exec, points);
    examine_positions(context, input.view(), fields.front()->decomposition().grid().box,
                      {"points", "point"});
    return readout_checked(context, fields, input.view(), window);
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none
#define ZHALO_READOUT(T, Real)                                                                  \
  template std::vector<Buffer<T>> readout(const Context&, const std::vector<const Field<T>*>&,  \
                                          const Particles<Real>&, Window);                      \
  template std::vector<Buffer<T>> readout_checked(                                              \
      const Context&, const std::vector<const Field<T>*>&, const kernels::ParticlesView<Real>&, \
      Window, const RouteLimits&);
// NOLINTEND(bugprone-macro-parentheses)
ZHALO_FOR_REAL_PAIRS(ZHALO_READOUT)

}  // namespace zhalo
