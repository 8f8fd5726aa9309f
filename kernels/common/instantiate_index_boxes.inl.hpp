// Explicit instantiations of the templates of mesh_kernels.hpp that have to do with index boxes,
// for the Exec that ZHALO_EXEC names. No include guard.

namespace zhalo::kernels {

template void copy_boxes(const ZHALO_EXEC&, const BoxMoves&, const ElementArrays&);
template void add_boxes(const ZHALO_EXEC&, const BoxMoves&, const std::int32_t*, std::int32_t*);
template void add_boxes(const ZHALO_EXEC&, const BoxMoves&, const Index*, Index*);
template void add_boxes(const ZHALO_EXEC&, const BoxMoves&, const float*, float*);
template void add_boxes(const ZHALO_EXEC&, const BoxMoves&, const double*, double*);
template void zero_boxes(const ZHALO_EXEC&, const BoxMoves&, void*, Index);

}  // namespace zhalo::kernels
