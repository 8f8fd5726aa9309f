#include "zhalo/knn/reduce.hpp"

#include "kernels/knn.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/core/validate.hpp"
#include "src/domain/positions.hpp"
#include "src/knn/memory_of_search.hpp"
#include "zhalo/knn/neighbour_lists.hpp"

namespace zhalo {
namespace {

template <class Real>
void validate_velocities(const Particles<Real>& particles) {
  for (std::size_t s = 0; s < particles.segments.size(); ++s) {
    const ParticleSegment<Real>& segment = particles.segments[s];
    for (std::size_t axis = 0;
         segment.num > 0 && axis < static_cast<std::size_t>(particles.dimensions); ++axis)
      validate(static_cast<bool>(segment.velocity[axis]),
               "segment {} has no velocities on axis {}, which this quantity needs", s, axis);
  }
}

/// Masses and velocities of this rank's particles, one behind the other, as double.
template <class Real>
class QuantityInput {
 public:
  QuantityInput(const Context& context, const Particles<Real>& particles,
                const QuantityOptions& quantity)
      : dimensions_(particles.dimensions) {
    const Index num = particles.num();
    const int num_columns = kernels::num_columns(quantity);
    if (num_columns == 0) return;
    mass_ = Buffer<double>(context.exec, num, "masses");
    if (num_columns > 1) {
      validate_velocities(particles);
      velocity_ = Buffer<double>(context.exec, num * dimensions_, "velocities");
    }
    const SegmentTable<Real> on_exec(context.exec, particles);
    Buffer<LocalIndex> all(context.exec, num, "indices of particles");
    kernels::PackedColumns<Real> to;
    to.mass = mass_.span();
    to.velocity = velocity_.span();
    kernels::on(context.exec, [&](const auto& e) {
      kernels::number(e, all.span());
      kernels::pack_particles(e, on_exec.view(), Span<const LocalIndex>(all.span()), to);
    });
    synchronise(context.exec);
    columns_.push_back(column_view(mass_));
    if (num_columns > 1)
      columns_.push_back({velocity_.data(), num, static_cast<Index>(sizeof(double)) * dimensions_});
  }

  const std::vector<ColumnView>& columns() const { return columns_; }

  kernels::QuantityColumns placed(const NeighbourLists<Real>& lists) const {
    kernels::QuantityColumns placed;
    placed.dimensions = dimensions_;
    if (!columns_.empty()) placed.mass = lists.template column<double>(0);
    if (columns_.size() > 1) {
      placed.velocity = lists.column_view(1, columns_[1].element_size).template as<double>();
    }
    return placed;
  }

 private:
  int dimensions_;
  Buffer<double> mass_;
  Buffer<double> velocity_;
  std::vector<ColumnView> columns_;
};

void validate_options(const Communicator& comm, const KnnOptions& options,
                      const QuantityOptions& quantity) {
  validate(options.k >= 1 && options.k <= max_neighbours, "k is {} (must be 1 to {})", options.k,
           max_neighbours);
  const Index word =
      static_cast<Index>(quantity.quantity) * 16 + static_cast<Index>(quantity.kernel);
  validate(comm.min(word) == comm.max(word),
           "the ranks do not want the same quantity; give all ranks the same");
}

template <class Real>
Buffer<double> find(const Context& context, const KnnTargets<Real>& targets, const Box& box,
                    const KnnOptions& options, const QuantityOptions& quantity) {
  return together(context.comm, [&] {
    validate_options(context.comm, options, quantity);
    const auto memory = look_after_memory(context, targets, options, knn_reduce_need);
    const PhaseTimer timer(context, "reduce");
    const QuantityInput<Real> input = together(context.comm, [&] {
      if (targets.domain == nullptr)
        return QuantityInput<Real>(context, *targets.particles, quantity);
      return QuantityInput<Real>(context, targets.domain->particles(targets.species.targets),
                                 quantity);
    });
    NeighbourLists<Real> lists(context, targets, box, {options, input.columns()});
    Buffer<double> result(context.exec, targets.num_queries(), "quantities of neighbours");
    while (lists.queue_next()) {
      const NeighbourRows<Real>& rows = lists.rows();
      Buffer<double> values(context.exec, rows.num, "a chunk of quantities");
      kernels::on(context.exec, [&](const auto& e) {
        kernels::reduce_rows(e, rows, input.placed(lists), quantity, values.span());
      });
      lists.put(values.data(), static_cast<Index>(sizeof(double)), result.data());
    }
    return result;
  });
}

}  // namespace

QuantityNeeds needs_of(Quantity quantity) {
  const int num_columns = kernels::num_columns({quantity});
  return {num_columns > 0, num_columns > 1};
}

template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Particles<Real>& particles,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity) {
  return find<Real>(context, particles, box, options, quantity);
}

template <class Real>
Buffer<double> neighbour_quantity(const Context& context, const Queries<Real>& among,
                                  const Box& box, const KnnOptions& options,
                                  const QuantityOptions& quantity) {
  return find<Real>(context, among, box, options, quantity);
}

template <class Real>
Buffer<double> neighbour_quantity(const Domain<Real>& domain, const KnnOptions& options,
                                  const QuantityOptions& quantity, const KnnSpecies& species) {
  return find<Real>(domain.context(), {domain, species}, domain.box(), options, quantity);
}

template Buffer<double> neighbour_quantity(const Domain<float>&, const KnnOptions&,
                                           const QuantityOptions&, const KnnSpecies&);
template Buffer<double> neighbour_quantity(const Domain<double>&, const KnnOptions&,
                                           const QuantityOptions&, const KnnSpecies&);
template Buffer<double> neighbour_quantity(const Context&, const Particles<float>&, const Box&,
                                           const KnnOptions&, const QuantityOptions&);
template Buffer<double> neighbour_quantity(const Context&, const Particles<double>&, const Box&,
                                           const KnnOptions&, const QuantityOptions&);
template Buffer<double> neighbour_quantity(const Context&, const Queries<float>&, const Box&,
                                           const KnnOptions&, const QuantityOptions&);
template Buffer<double> neighbour_quantity(const Context&, const Queries<double>&, const Box&,
                                           const KnnOptions&, const QuantityOptions&);

}  // namespace zhalo
