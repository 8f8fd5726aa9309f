// Explicit instantiations of the searches for neighbours, for the Exec that ZHALO_EXEC names (the
// host makes its own, by vector target). No include guard.

namespace zhalo::kernels {

template void find_nearest(const ZHALO_EXEC&, const SearchView<float>&, Index,
                           const BestRows<float>&);
template void find_nearest(const ZHALO_EXEC&, const SearchView<double>&, Index,
                           const BestRows<double>&);
template void find_within(const ZHALO_EXEC&, const SearchView<float>&, Index,
                          const WithinRows<float>&);
template void find_within(const ZHALO_EXEC&, const SearchView<double>&, Index,
                          const WithinRows<double>&);

}  // namespace zhalo::kernels
