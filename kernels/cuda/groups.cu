// The texts that are written for Lanes, one warp per item.
#include <limits>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/warp_lanes.cuh"
#include "kernels/kernels.hpp"
// After the group.
#include "kernels/common/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/boxes.inl.hpp"
#include "kernels/common/fof_link.inl.hpp"
#include "kernels/common/fof_walk.inl.hpp"

namespace zhalo::kernels {

template <class E, class Real>
void leaf_boxes(const E& exec, const TreeView<Real>& tree) {
  for_each_with_lanes(exec, tree.level_size[0], device::LeafBox<WarpLanes<Real>>{tree},
                      WarpLanes<Real>{});
}
template <class E, class Real>
void level_boxes(const E& exec, const TreeView<Real>& tree, int level) {
  for_each_with_lanes(exec, tree.level_size[level], device::NodeBox<WarpLanes<Real>>{tree, level},
                      WarpLanes<Real>{});
}
template <class E, class Real>
void link_inside(const E& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.tree.level_size[0], device::LinkInside<WarpLanes<Real>>{{fof}},
                      WarpLanes<Real>{});
}
template <class E, class Real>
void link_between(const E& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.walkers.tree.level_size[fof.walk_level],
                      device::LinkBetween<WarpLanes<Real>>{{fof}}, WarpLanes<Real>{});
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_groups.inl.hpp"
