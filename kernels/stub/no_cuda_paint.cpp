// In place of kernels/cuda where there is no CUDA toolkit: see no_cuda.cpp.
#include "kernels/kernels.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

template <class E, class Real>
WeightSummary summarize_weights(const E&, const PaintedParticles<Real>&) {
  refuse();
}
template <class E, class Real>
Index bound_weights(const E&, const PaintedParticles<Real>&) {
  refuse();
}
template <class E, class Real>
WeightSums sum_weights(const E&, const PaintedParticles<Real>&) {
  refuse();
}
template <class Real>
void deposit(const Cuda&, const PaintedParticles<Real>&, const MeshCells&, Span<Index>) {
  refuse();
}
template <class E, class Real>
void find_owners(const E&, const OwnerSearch<Real>&, Span<std::uint64_t>) {
  refuse();
}
template <class E, class Real>
void pack_painted(const E&, const PaintedParticles<Real>&, Index, Span<const LocalIndex>,
                  const TravellingParticles<Real>&) {
  refuse();
}
template <class E, class From, class To>
void map_cells(const E&, const CellRows&, const From*, To*, const LinearMap&) {
  refuse();
}
template <class E, class To>
Index write_fixed_weights(const E&, const CellRows&, const Index*, To*, const LinearMap&) {
  refuse();
}
template <class T, class Real>
void readout_cells(const Cuda&, const ParticlesView<Real>&, const ReadoutCells<T>&) {
  refuse();
}

template void readout_cells(const Cuda&, const ParticlesView<float>&, const ReadoutCells<float>&);
template void readout_cells(const Cuda&, const ParticlesView<float>&, const ReadoutCells<double>&);
template void readout_cells(const Cuda&, const ParticlesView<double>&, const ReadoutCells<float>&);
template void readout_cells(const Cuda&, const ParticlesView<double>&, const ReadoutCells<double>&);
template void deposit(const Cuda&, const PaintedParticles<float>&, const MeshCells&, Span<Index>);
template void deposit(const Cuda&, const PaintedParticles<double>&, const MeshCells&, Span<Index>);

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_paint.inl.hpp"
