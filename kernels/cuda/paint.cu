#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/kernels.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/paint.hpp"

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_paint.inl.hpp"

namespace zhalo::kernels {

template <class Real>
void deposit(const Cuda& exec, const PaintedParticles<Real>& painted, const MeshCells& cells, Span<Index> sums) {
  with_order(cells.order, [&](auto order) {
    for_each(exec, painted.particles.num, DepositParticle<decltype(order)::value, true, Real>{painted, cells, sums});
  });
}

template <class T, class Real>
void sample_cells(const Cuda& exec, const ParticlesView<Real>& places, const SampledCells<T>& sampled) {
  with_order(sampled.cells.order, [&](auto order) {
    for_each(exec, places.num, SamplePlace<decltype(order)::value, T, Real>{places, sampled});
  });
}

template void sample_cells(const Cuda&, const ParticlesView<float>&, const SampledCells<float>&);
template void sample_cells(const Cuda&, const ParticlesView<float>&, const SampledCells<double>&);
template void sample_cells(const Cuda&, const ParticlesView<double>&, const SampledCells<float>&);
template void sample_cells(const Cuda&, const ParticlesView<double>&, const SampledCells<double>&);
template void deposit(const Cuda&, const PaintedParticles<float>&, const MeshCells&, Span<Index>);
template void deposit(const Cuda&, const PaintedParticles<double>&, const MeshCells&, Span<Index>);

}  // namespace zhalo::kernels
