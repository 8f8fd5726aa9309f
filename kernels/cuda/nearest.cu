// The searches for neighbours, one warp per leaf of queries.
#include <limits>

#include "kernels/atomics.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/warp_group.cuh"
#include "kernels/kernels.hpp"
// After the group.
#include "kernels/common/tree_group.inl.hpp"
// After distances.
#include "kernels/common/neighbour_walk.inl.hpp"
// After the walk.
#include "kernels/common/best_list.inl.hpp"
#include "kernels/common/nearest.inl.hpp"
#include "kernels/common/within.inl.hpp"

namespace zhalo::kernels {

template <class E, class Real>
void find_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves, const BestRows<Real>& rows) {
  for_each_group(exec, num_leaves, device::FindNearest<WarpGroup<Real>>{search, rows}, WarpGroup<Real>{});
}
template <class E, class Real>
void find_within(const E& exec, const SearchView<Real>& search, Index num_leaves, const WithinRows<Real>& rows) {
  for_each_group(exec, num_leaves, device::FindWithin<WarpGroup<Real>>{search, rows}, WarpGroup<Real>{});
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_nearest.inl.hpp"
