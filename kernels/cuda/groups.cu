// The texts that are written for Groups, one warp per item.
#include <limits>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/warp_group.cuh"
#include "kernels/kernels.hpp"
// After the group.
#include "kernels/common/tree_group.inl.hpp"
// After distances.
#include "kernels/common/boxes.inl.hpp"
#include "kernels/common/fof_link.inl.hpp"
#include "kernels/common/fof_walk.inl.hpp"

namespace zhalo::kernels {

template <class E, class Real>
void leaf_boxes(const E& exec, const TreeView<Real>& tree) {
  for_each_group(exec, tree.plane_size[0], device::LeafBox<WarpGroup<Real>>{tree}, WarpGroup<Real>{});
}
template <class E, class Real>
void plane_boxes(const E& exec, const TreeView<Real>& tree, int plane) {
  for_each_group(exec, tree.plane_size[plane], device::NodeBox<WarpGroup<Real>>{tree, plane}, WarpGroup<Real>{});
}
template <class E, class Real>
void link_inside(const E& exec, const FofView<Real>& fof) {
  for_each_group(exec, fof.tree.plane_size[0], device::LinkInside<WarpGroup<Real>>{{fof}}, WarpGroup<Real>{});
}
template <class E, class Real>
void link_between(const E& exec, const FofView<Real>& fof) {
  for_each_group(exec, fof.walkers.tree.plane_size[fof.walk_plane], device::LinkBetween<WarpGroup<Real>>{{fof}},
                 WarpGroup<Real>{});
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_groups.inl.hpp"
