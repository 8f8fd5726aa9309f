#include "zhalo/domain/particles.hpp"

#include "src/core/validate.hpp"
#include "src/domain/sorted_particles.hpp"

namespace zhalo {

namespace {

/// First element of a column of rows of vectors; no rows may have no address.
template <class Real>
const Real* column_of(const Real* rows, int axis) {
  return rows == nullptr ? nullptr : rows + axis;
}

}  // namespace

template <class Real>
ParticleSegment<Real> ParticleSegment<Real>::interleaved(const Real* pos, Index num,
                                                         int dimensions) {
  validate(dimensions == 2 || dimensions == 3, "positions of {} dimensions (must have 2 or 3)",
           dimensions);
  ParticleSegment segment;
  segment.num = num;
  for (int axis = 0; axis < dimensions; ++axis) {
    segment.pos[static_cast<std::size_t>(axis)] = {column_of(pos, axis),
                                                   dimensions * static_cast<Index>(sizeof(Real))};
  }
  return segment;
}

template <class Real>
void ParticleSegment<Real>::set_interleaved_velocity(const Real* values, int dimensions) {
  validate(dimensions == 2 || dimensions == 3, "velocities of {} dimensions (must have 2 or 3)",
           dimensions);
  for (int axis = 0; axis < dimensions; ++axis) {
    velocity[static_cast<std::size_t>(axis)] = {column_of(values, axis),
                                                dimensions * static_cast<Index>(sizeof(Real))};
  }
}

template <class Real>
Index Particles<Real>::num() const {
  Index sum = 0;
  for (const auto& segment : segments) sum += segment.num;
  return sum;
}

GlobalRange global_range(const Communicator& comm, Index num) {
  return {comm.exclusive_sum(num), comm.sum(num)};
}

template struct ParticleSegment<float>;
template struct ParticleSegment<double>;
template struct Particles<float>;
template struct Particles<double>;

template <class Real>
PositionCounts count_positions(const Context& context, const Particles<Real>& particles,
                               const Box& box) {
  return together(context.comm, [&] {
    validate_box(box, particles.dimensions);
    validate_box_fits<Real>(box);
    const DeviceParticles<Real> input(context.exec, particles);
    const Extent extent = examine_positions(context, input.view(), box);
    return PositionCounts{extent.range.total, extent.num_wrapped};
  });
}

template PositionCounts count_positions(const Context&, const Particles<float>&, const Box&);
template PositionCounts count_positions(const Context&, const Particles<double>&, const Box&);

}  // namespace zhalo
