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

template void deposit(const Cuda&, const PaintedParticles<float>&, const MeshCells&, Span<Index>);
template void deposit(const Cuda&, const PaintedParticles<double>&, const MeshCells&, Span<Index>);

}  // namespace zhalo::kernels
