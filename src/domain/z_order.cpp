#include "zhalo/domain/z_order.hpp"

#include "src/core/validate_memory.hpp"
#include "src/domain/distribution.hpp"

namespace zhalo {

template <class Real>
struct ZOrder<Real>::State {
  const Context& context;
  DistributedParticles<Real> particles;
  Extent extent;
  std::vector<Index> element_size;
};

namespace {

/// What ranks that send to each other must have in common.
void validate_agreement(const Communicator& comm, const Box& box, const ZOrderOptions& options,
                        Index num) {
  struct Request {
    Box box;
    Index num_columns;
    Index sizes;  ///< of elements, by place
    int weights;  ///< 0 or 1; 2 where there is nothing to weigh
  };
  Request mine{box, static_cast<Index>(options.columns.size()), 0,
               num == 0 ? 2 : (options.weight ? 1 : 0)};
  Index place = 1;
  for (const ColumnView& column : options.columns) mine.sizes += place++ * column.element_size;
  int weights = mine.weights;
  for (const Request& other : comm.all_gather(mine)) {
    validate(other.box == box, "the box is not the same on all ranks; give all ranks the same");
    validate(other.num_columns == mine.num_columns && other.sizes == mine.sizes,
             "the ranks do not give the same travelling columns ({} here, {} elsewhere, or other "
             "sizes); ranks without particles "
             "must give them too",
             mine.num_columns, other.num_columns);
    if (other.weights == 2) continue;
    validate(weights == 2 || other.weights == weights, "some ranks give weights and others do not");
    weights = other.weights;
  }
}

}  // namespace

template <class Real>
ZOrder<Real>::ZOrder(const Context& context, const Particles<Real>& particles, const Box& box,
                     const ZOrderOptions& options) {
  context.comm.together([&] {
    validate_box(box, particles.dimensions);
    validate_box_fits<Real>(box);
    validate_agreement(context.comm, box, options, particles.num());
    std::vector<Index> sizes;
    for (const ColumnView& column : options.columns) {
      if (particles.num() > 0) validate_memory(context.exec, column.data, "values of a column");
      sizes.push_back(column.element_size);
      validate_column_size(column, particles.num());
    }
    if (particles.num() > 0) validate_memory(context.exec, options.weight.data, "weights");
    const DeviceParticles<Real> input(context.exec, particles);
    const Extent extent = examine_positions(context, input.view(), box);
    const kernels::KeyFrame frame = choose_key_frame(box, extent, 0, 1).frame;
    state_ = std::make_shared<State>(
        State{context,
              distribute_particles(context, input.view(), frame, {options.weight, options.columns}),
              extent, sizes});
    state_->particles.sorted.keys = {};
  });
}

template <class Real>
Index ZOrder<Real>::num() const {
  return state_->particles.num();
}
template <class Real>
Index ZOrder<Real>::num_origin() const {
  return state_->particles.num_brought;
}
template <class Real>
Index ZOrder<Real>::num_total() const {
  return state_->extent.range.total;
}
template <class Real>
Index ZOrder<Real>::first() const {
  return state_->particles.first;
}
template <class Real>
Index ZOrder<Real>::num_wrapped() const {
  return state_->extent.num_wrapped;
}

template <class Real>
Span<const Real> ZOrder<Real>::pos(int axis) const {
  validate(axis >= 0 && axis < 3, "there is no axis {} (0 to 2)", axis);
  return state_->particles.sorted.pos[axis].span();
}

template <class Real>
Span<const Index> ZOrder<Real>::global_index() const {
  return state_->particles.global_index.span();
}

template <class Real>
const void* ZOrder<Real>::column_data(int i, Index element_size) const {
  const auto at = static_cast<std::size_t>(i);
  validate(i >= 0 && at < state_->element_size.size(),
           "there is no travelling column {} (there are {})", i, state_->element_size.size());
  validate(state_->element_size[at] == element_size,
           "travelling column {} has elements of {} bytes, not {}", i, state_->element_size[at],
           element_size);
  return state_->particles.columns[at].data();
}

template <class Real>
void ZOrder<Real>::copy_column_bytes(int i, Index element_size, void* to, Index capacity) const {
  const Context& context = state_->context;
  context.comm.together([&] {
    const void* column = column_data(i, element_size);
    validate(capacity >= num(),
             "the column has {} elements on this rank, the memory given has room for {}", num(),
             capacity);
    copy_bytes(context.exec, to, column, static_cast<std::size_t>(num() * element_size));
  });
}

template <class Real>
void ZOrder<Real>::return_bytes(const ColumnView& values, void* to, Index num_to) const {
  const Context& context = state_->context;
  context.comm.together([&] {
    validate(values.num == num() && num_to == num_origin(),
             "{} values are to go back to {} particles (must be {} and {})", values.num, num_to,
             num(), num_origin());
    if (values.num > 0) validate_memory(context.exec, values.data, "values of a column");
    if (num_to > 0) validate_memory(context.exec, to, "the room for values of a column");
    state_->particles.redistribution.backward(context, {values, to});
  });
}

template class ZOrder<float>;
template class ZOrder<double>;

}  // namespace zhalo
