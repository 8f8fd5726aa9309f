#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/kernels.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/paint.hpp"

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_paint.inl.hpp"

namespace zhalo::kernels {

template <class Real>
void deposit(const Cuda& exec, const PaintedParticles<Real>& painted, const MeshCells& cells,
             Span<Index> sums) {
  with_order(cells.order, [&](auto order) {
    for_each(exec, painted.particles.num,
             DepositParticle<decltype(order)::value, true, Real>{painted, cells, sums});
  });
}

template <class T, class Real>
void readout_cells(const Cuda& exec, const ParticlesView<Real>& points,
                   const ReadoutCells<T>& sampled) {
  with_order(sampled.cells.order, [&](auto order) {
    for_each(exec, points.num, ReadoutPoint<decltype(order)::value, T, Real>{points, sampled});
  });
}

template void readout_cells(const Cuda&, const ParticlesView<float>&, const ReadoutCells<float>&);
template void readout_cells(const Cuda&, const ParticlesView<float>&, const ReadoutCells<double>&);
template void readout_cells(const Cuda&, const ParticlesView<double>&, const ReadoutCells<float>&);
template void readout_cells(const Cuda&, const ParticlesView<double>&, const ReadoutCells<double>&);
template void deposit(const Cuda&, const PaintedParticles<float>&, const MeshCells&, Span<Index>);
template void deposit(const Cuda&, const PaintedParticles<double>&, const MeshCells&, Span<Index>);

}  // namespace zhalo::kernels
