// Searches for neighbours on the host, compiled like tree.cpp.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/host/parallel.hpp"
// What it reduces with comes before the text that does.
#include "kernels/host/sph_density.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/knn/nodes.hpp"
#include "kernels/common/knn/rows.hpp"
#include "kernels/lanes/lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/knn.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes/simd_lanes.inl.hpp"
// After the lanes.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/knn/walk.inl.hpp"
// After the walk.
#include "kernels/common/knn/best_list.inl.hpp"
#include "kernels/common/knn/few_rows.inl.hpp"
#include "kernels/common/knn/nearest.inl.hpp"
// After nearest.
#include "kernels/common/knn/few_nearest.inl.hpp"
// After the common searches.
#if HWY_TARGET != HWY_SCALAR
#include "kernels/host/sorted_keys.inl.hpp"
// After sorting.
#include "kernels/host/candidate_bounds.inl.hpp"
// After the stage.
// After bounds.
#include "kernels/host/nearest_candidates.inl.hpp"
#endif

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

/// With candidates in the lanes, where there are enough of them. Queries that are no particles have
/// long lists of leaves, which the common text goes through faster with a query in each lane.
template <class Real>
void find_nearest_on_host(const Host& exec, const SearchView<Real>& search, Index num_leaves,
                          const BestRows<Real>& wanted) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<Real, float> && SimdLanes<float>::size >= 8) {
    const bool pays = search.queries_are_particles || wanted.k > max_k_in_lanes<float>;
    if (pays && !wanted.resume && wanted.k <= max_k_among_candidates) {
      BestRows<float> rows = wanted;
      rows.only_tied = true;
      find_among_candidates(exec, search, num_leaves, rows);
      return for_each_with_lanes(exec, num_leaves, FindNearest<SimdLanes<float>>{search, rows},
                                 SimdLanes<float>{});
    }
  }
#endif
  HWY_NAMESPACE::find_nearest(exec, search, num_leaves, wanted);
}

// Highway's dispatch wants plain functions.
void nearest_float(const Host& e, const SearchView<float>& s, Index n, const BestRows<float>& r) {
  HWY_NAMESPACE::find_nearest_on_host(e, s, n, r);
}
void nearest_double(const Host& e, const SearchView<double>& s, Index n,
                    const BestRows<double>& r) {
  HWY_NAMESPACE::find_nearest_on_host(e, s, n, r);
}
void within_float(const Host& e, const SearchView<float>& s, Index n, const WithinRows<float>& r) {
  HWY_NAMESPACE::find_within(e, s, n, r);
}
void within_double(const Host& e, const SearchView<double>& s, Index n,
                   const WithinRows<double>& r) {
  HWY_NAMESPACE::find_within(e, s, n, r);
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(nearest_float);
HWY_EXPORT(nearest_double);
HWY_EXPORT(within_float);
HWY_EXPORT(within_double);

template <>
void find_nearest(const Host& exec, const SearchView<float>& search, Index num_leaves,
                  const BestRows<float>& rows) {
  HWY_DYNAMIC_DISPATCH(nearest_float)(exec, search, num_leaves, rows);
}
template <>
void find_nearest(const Host& exec, const SearchView<double>& search, Index num_leaves,
                  const BestRows<double>& rows) {
  HWY_DYNAMIC_DISPATCH(nearest_double)(exec, search, num_leaves, rows);
}
template <>
void find_within(const Host& exec, const SearchView<float>& search, Index num_leaves,
                 const WithinRows<float>& rows) {
  HWY_DYNAMIC_DISPATCH(within_float)(exec, search, num_leaves, rows);
}
template <>
void find_within(const Host& exec, const SearchView<double>& search, Index num_leaves,
                 const WithinRows<double>& rows) {
  HWY_DYNAMIC_DISPATCH(within_double)(exec, search, num_leaves, rows);
}

}  // namespace zhalo::kernels
#endif
