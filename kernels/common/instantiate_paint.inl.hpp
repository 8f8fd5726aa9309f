// Explicit instantiations of the templates of paint_kernels.hpp, but deposit() and sample_cells(), for the Exec that ZHALO_EXEC names. No include guard.

namespace zhalo::kernels {

template Index sum_cells(const ZHALO_EXEC&, Span<const Index>);

#define ZHALO_INSTANTIATE_PAINT(Real)                                                                         \
  template WeightSummary summarize_weights(const ZHALO_EXEC&, const PaintedParticles<Real>&);                 \
  template Index bound_weights(const ZHALO_EXEC&, const PaintedParticles<Real>&);                             \
  template WeightSums sum_weights(const ZHALO_EXEC&, const PaintedParticles<Real>&);                          \
  template void find_owners(const ZHALO_EXEC&, const OwnerSearch<Real>&, Span<std::uint64_t>);                \
  template void pack_painted(const ZHALO_EXEC&, const PaintedParticles<Real>&, Index, Span<const LocalIndex>, \
                             const TravellingParticles<Real>&);                                               \
  template void map_cells(const ZHALO_EXEC&, const CellRows&, const Index*, Real*, const LinearMap&);         \
  template void map_cells(const ZHALO_EXEC&, const CellRows&, const Real*, Real*, const LinearMap&);

ZHALO_INSTANTIATE_PAINT(float)
ZHALO_INSTANTIATE_PAINT(double)
#undef ZHALO_INSTANTIATE_PAINT

}  // namespace zhalo::kernels
