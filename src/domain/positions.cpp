#include "zhalo/domain/positions.hpp"

#include "src/domain/sorted_particles.hpp"

namespace zhalo {

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
