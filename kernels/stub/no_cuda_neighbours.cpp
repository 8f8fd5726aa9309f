// In place of kernels/cuda where there is no CUDA toolkit: see no_cuda.cpp.
#include "kernels/kernels.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

template <class E, class Real>
void find_smallest_indices(const E&, const SearchView<Real>&, Span<Index>) {
  refuse();
}
template <class E, class Real>
void find_nearest(const E&, const SearchView<Real>&, Index, const BestRows<Real>&) {
  refuse();
}
template <class E, class Real>
void find_within(const E&, const SearchView<Real>&, Index, const WithinRows<Real>&) {
  refuse();
}
template <class E, class Real>
void sort_rows(const E&, Span<const Index>, const WithinRows<Real>&, SearchColumn<Index>) {
  refuse();
}
template <class E, class Real>
void write_rows(const E&, Index, const BestRows<Real>&, SearchColumn<Index>,
                const RowOutput<Real>&) {
  refuse();
}
template <class E, class Real>
void gather_neighbours(const E&, const PlacedBytes&, const BestRows<Real>&, Span<const LocalIndex>,
                       const MissingBytes&) {
  refuse();
}
template <class E, class Real>
void find_reach(const E&, const SearchView<Real>&, const BestRows<Real>&, Span<Real>) {
  refuse();
}
template <class E, class Real>
Buffer<LocalIndex> select_in_balls(const E&, const BallsView<Real>&) {
  refuse();
}
template <class E, class Real>
void reduce_kth_radius(const E&, const NeighbourRows<Real>&, Span<double>) {
  refuse();
}
template <class E, class Real>
void reduce_mean_radius(const E&, const NeighbourRows<Real>&, Span<double>) {
  refuse();
}
template <class E, class Real>
void reduce_density(const E&, const NeighbourRows<Real>&, const QuantityColumns&, SphKernel,
                    Span<double>) {
  refuse();
}
template <class E, class Real>
void reduce_dispersion(const E&, const NeighbourRows<Real>&, const QuantityColumns&, Span<double>) {
  refuse();
}
template <class E>
void find_origins(const E&, const SourcesView&, Span<const LocalIndex>, Span<const Index>,
                  Span<ParticleLocation>) {
  refuse();
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_nearest.inl.hpp"
#include "kernels/common/instantiate_neighbours.inl.hpp"
