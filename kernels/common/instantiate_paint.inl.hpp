// Explicit instantiations of the templates of paint_kernels.hpp for the Exec that ZHALO_EXEC names,
// but of deposit() and readout_cells(). No include guard.

namespace zhalo::kernels {

template WeightSummary summarize_weights(const ZHALO_EXEC&, const PaintedParticles<float>&);
template Index bound_weights(const ZHALO_EXEC&, const PaintedParticles<float>&);
template WeightSums sum_weights(const ZHALO_EXEC&, const PaintedParticles<float>&);
template void find_owners(const ZHALO_EXEC&, const OwnerSearch<float>&, Span<std::uint64_t>);
template void pack_painted(const ZHALO_EXEC&, const PaintedParticles<float>&, Index,
                           Span<const LocalIndex>, const TravellingParticles<float>&);
template Index write_fixed_weights(const ZHALO_EXEC&, const CellRows&, const Index*, float*,
                                   const LinearMap&);
template void map_cells(const ZHALO_EXEC&, const CellRows&, const float*, float*, const LinearMap&);

template WeightSummary summarize_weights(const ZHALO_EXEC&, const PaintedParticles<double>&);
template Index bound_weights(const ZHALO_EXEC&, const PaintedParticles<double>&);
template WeightSums sum_weights(const ZHALO_EXEC&, const PaintedParticles<double>&);
template void find_owners(const ZHALO_EXEC&, const OwnerSearch<double>&, Span<std::uint64_t>);
template void pack_painted(const ZHALO_EXEC&, const PaintedParticles<double>&, Index,
                           Span<const LocalIndex>, const TravellingParticles<double>&);
template Index write_fixed_weights(const ZHALO_EXEC&, const CellRows&, const Index*, double*,
                                   const LinearMap&);
template void map_cells(const ZHALO_EXEC&, const CellRows&, const double*, double*,
                        const LinearMap&);

}  // namespace zhalo::kernels
