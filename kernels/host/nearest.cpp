// The searches for neighbours, compiled for every vector target; the best one that the processor
// has is taken at run time.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/atomics.hpp"
#include "kernels/common/lanes.hpp"
#include "kernels/host/parallel.hpp"
#include "kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/nearest.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/host/simd_lanes.inl.hpp"
// After the group.
#include "kernels/common/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/neighbour_walk.inl.hpp"
// After the walk.
#include "kernels/common/best_list.inl.hpp"
#include "kernels/common/nearest.inl.hpp"
#include "kernels/common/within.inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

template <class Real>
void find_nearest(const Host& exec, const SearchView<Real>& search, Index num_leaves,
                  const BestRows<Real>& rows) {
  for_each_with_lanes(exec, num_leaves, FindNearest<SimdLanes<Real>>{search, rows},
                      SimdLanes<Real>{});
}
template <class Real>
void find_within(const Host& exec, const SearchView<Real>& search, Index num_leaves,
                 const WithinRows<Real>& rows) {
  for_each_with_lanes(exec, num_leaves, FindWithin<SimdLanes<Real>>{search, rows},
                      SimdLanes<Real>{});
}

// Highway's dispatch wants plain functions.
void nearest_float(const Host& e, const SearchView<float>& s, Index n, const BestRows<float>& r) {
  find_nearest(e, s, n, r);
}
void nearest_double(const Host& e, const SearchView<double>& s, Index n,
                    const BestRows<double>& r) {
  find_nearest(e, s, n, r);
}
void within_float(const Host& e, const SearchView<float>& s, Index n, const WithinRows<float>& r) {
  find_within(e, s, n, r);
}
void within_double(const Host& e, const SearchView<double>& s, Index n,
                   const WithinRows<double>& r) {
  find_within(e, s, n, r);
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
