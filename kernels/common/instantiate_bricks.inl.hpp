// Explicit instantiations of the templates of mesh_kernels.hpp that have to do with bricks, for the Exec that ZHALO_EXEC names. No include
// guard.

namespace zhalo::kernels {

template void copy_bricks(const ZHALO_EXEC&, const BrickMoves&, const WordArrays&);
template void add_bricks(const ZHALO_EXEC&, const BrickMoves&, const std::int32_t*, std::int32_t*);
template void add_bricks(const ZHALO_EXEC&, const BrickMoves&, const Index*, Index*);
template void add_bricks(const ZHALO_EXEC&, const BrickMoves&, const float*, float*);
template void add_bricks(const ZHALO_EXEC&, const BrickMoves&, const double*, double*);
template void zero_bricks(const ZHALO_EXEC&, const BrickMoves&, void*, Index);

}  // namespace zhalo::kernels
