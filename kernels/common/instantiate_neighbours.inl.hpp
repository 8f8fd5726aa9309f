// Explicit instantiations of the templates of kernels.hpp that have to do with neighbours, for the
// Exec that ZHALO_EXEC names. No include guard.

namespace zhalo::kernels {

template void find_smallest_indices(const ZHALO_EXEC&, const SearchView<float>&, Span<Index>);
template void find_smallest_indices(const ZHALO_EXEC&, const SearchView<double>&, Span<Index>);
template void sort_rows(const ZHALO_EXEC&, Span<const Index>, const WithinRows<float>&,
                        SearchColumn<Index>);
template void sort_rows(const ZHALO_EXEC&, Span<const Index>, const WithinRows<double>&,
                        SearchColumn<Index>);
template void write_rows(const ZHALO_EXEC&, Index, const BestRows<float>&, SearchColumn<Index>,
                         const RowOutput<float>&);
template void write_rows(const ZHALO_EXEC&, Index, const BestRows<double>&, SearchColumn<Index>,
                         const RowOutput<double>&);
template void gather_neighbours(const ZHALO_EXEC&, const PlacedBytes&, const BestRows<float>&,
                                Span<const LocalIndex>, const MissingBytes&);
template void gather_neighbours(const ZHALO_EXEC&, const PlacedBytes&, const BestRows<double>&,
                                Span<const LocalIndex>, const MissingBytes&);
template void find_reach(const ZHALO_EXEC&, const SearchView<float>&, const BestRows<float>&,
                         Span<float>);
template void find_reach(const ZHALO_EXEC&, const SearchView<double>&, const BestRows<double>&,
                         Span<double>);
template Buffer<LocalIndex> select_in_balls(const ZHALO_EXEC&, const BallsView<float>&);
template Buffer<LocalIndex> select_in_balls(const ZHALO_EXEC&, const BallsView<double>&);
template void reduce_kth_radius(const ZHALO_EXEC&, const NeighbourRows<float>&, Span<double>);
template void reduce_mean_radius(const ZHALO_EXEC&, const NeighbourRows<float>&, Span<double>);
template void reduce_density(const ZHALO_EXEC&, const NeighbourRows<float>&, const QuantityColumns&,
                             SphKernel, Span<double>);
template void reduce_dispersion(const ZHALO_EXEC&, const NeighbourRows<float>&,
                                const QuantityColumns&, Span<double>);
template void reduce_kth_radius(const ZHALO_EXEC&, const NeighbourRows<double>&, Span<double>);
template void reduce_mean_radius(const ZHALO_EXEC&, const NeighbourRows<double>&, Span<double>);
template void reduce_density(const ZHALO_EXEC&, const NeighbourRows<double>&,
                             const QuantityColumns&, SphKernel, Span<double>);
template void reduce_dispersion(const ZHALO_EXEC&, const NeighbourRows<double>&,
                                const QuantityColumns&, Span<double>);
template void find_origins(const ZHALO_EXEC&, const SourcesView&, Span<const LocalIndex>,
                           Span<const Index>, Span<ParticleLocation>);

}  // namespace zhalo::kernels
