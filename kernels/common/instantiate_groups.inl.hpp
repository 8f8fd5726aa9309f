// Explicit instantiations of the templates of kernels.hpp that run by Lanes, for the Exec that
// ZHALO_EXEC names (the host makes its own, by vector target). No include guard.

namespace zhalo::kernels {

template void leaf_boxes(const ZHALO_EXEC&, const TreeView<float>&);
template void leaf_boxes(const ZHALO_EXEC&, const TreeView<double>&);
template void level_boxes(const ZHALO_EXEC&, const TreeView<float>&, int);
template void level_boxes(const ZHALO_EXEC&, const TreeView<double>&, int);
template void link_inside(const ZHALO_EXEC&, const FofView<float>&);
template void link_inside(const ZHALO_EXEC&, const FofView<double>&);
template void link_between(const ZHALO_EXEC&, const FofView<float>&);
template void link_between(const ZHALO_EXEC&, const FofView<double>&);

}  // namespace zhalo::kernels
