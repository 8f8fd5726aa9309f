// The searches for neighbours, one warp per leaf of queries.
#include <limits>

#include "kernels/atomics.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/warp_lanes.cuh"
#include "kernels/kernels.hpp"
// After the group.
#include "kernels/common/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/neighbour_walk.inl.hpp"
// After the walk.
#include "kernels/common/best_list.inl.hpp"
#include "kernels/common/nearest.inl.hpp"
#include "kernels/common/within.inl.hpp"

namespace zhalo::kernels {

template <class E, class Real>
void find_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves,
                  const BestRows<Real>& rows) {
  for_each_with_lanes(exec, num_leaves, device::FindNearest<WarpLanes<Real>>{search, rows},
                      WarpLanes<Real>{});
}
template <class E, class Real>
void find_within(const E& exec, const SearchView<Real>& search, Index num_leaves,
                 const WithinRows<Real>& rows) {
  for_each_with_lanes(exec, num_leaves, device::FindWithin<WarpLanes<Real>>{search, rows},
                      WarpLanes<Real>{});
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_nearest.inl.hpp"
