// Explicit instantiations of the templates of kernels.hpp for the Exec that ZHALO_EXEC names. No include guard.

namespace zhalo::kernels {

template Buffer<LocalIndex> cut_cells(const ZHALO_EXEC&, const CellCut&);
template void gather_keys(const ZHALO_EXEC&, Span<const std::uint64_t>, Span<const LocalIndex>, Span<std::uint64_t>);
template void fill_slots(const ZHALO_EXEC&, const LeafSlots&);
template void write_labels(const ZHALO_EXEC&, const DisjointSets&, Span<const LocalIndex>, Span<LocalIndex>, const LabelTarget&);

template PositionSummary summarize_positions(const ZHALO_EXEC&, const ParticlesView<float>&, const Box&);
template PositionSummary summarize_positions(const ZHALO_EXEC&, const ParticlesView<double>&, const Box&);
template void make_keys(const ZHALO_EXEC&, const ParticlesView<float>&, const Frame&, Span<std::uint64_t>, Span<LocalIndex>);
template void make_keys(const ZHALO_EXEC&, const ParticlesView<double>&, const Frame&, Span<std::uint64_t>, Span<LocalIndex>);
template void gather_positions(const ZHALO_EXEC&, const ParticlesView<float>&, const Frame&, Span<const LocalIndex>,
                               const SortedPositions<float>&);
template void gather_positions(const ZHALO_EXEC&, const ParticlesView<double>&, const Frame&, Span<const LocalIndex>,
                               const SortedPositions<double>&);

}  // namespace zhalo::kernels
