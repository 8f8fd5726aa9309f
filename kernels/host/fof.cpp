// Friends of friends on the host, compiled like tree.cpp.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/fof/sets.hpp"
#include "kernels/lanes/lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/fof.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes/simd_lanes.inl.hpp"
// After the lanes.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/fof/leaf_pair.inl.hpp"
// After links.
#include "kernels/common/fof/walk.inl.hpp"
// After walks.
#include "kernels/host/link_inside.inl.hpp"
#include "kernels/host/near_leaves.inl.hpp"
// After near leaves.
#include "kernels/host/staged_link.inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

// Highway's dispatch wants plain functions.
void link_inside_float(const Host& e, const FofView<float>& fof) {
  HWY_NAMESPACE::link_inside_at_once(e, fof);
}
void link_inside_double(const Host& e, const FofView<double>& fof) {
  HWY_NAMESPACE::link_inside_at_once(e, fof);
}
void link_between_float(const Host& e, const FofView<float>& fof) {
  HWY_NAMESPACE::link_between_in_stages(e, fof);
}
void link_between_double(const Host& e, const FofView<double>& fof) {
  HWY_NAMESPACE::link_between_in_stages(e, fof);
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(link_inside_float);
HWY_EXPORT(link_inside_double);
HWY_EXPORT(link_between_float);
HWY_EXPORT(link_between_double);

template <>
void link_inside(const Host& exec, const FofView<float>& fof) {
  HWY_DYNAMIC_DISPATCH(link_inside_float)(exec, fof);
}
template <>
void link_inside(const Host& exec, const FofView<double>& fof) {
  HWY_DYNAMIC_DISPATCH(link_inside_double)(exec, fof);
}
template <>
void link_between(const Host& exec, const FofView<float>& fof) {
  HWY_DYNAMIC_DISPATCH(link_between_float)(exec, fof);
}
template <>
void link_between(const Host& exec, const FofView<double>& fof) {
  HWY_DYNAMIC_DISPATCH(link_between_double)(exec, fof);
}

}  // namespace zhalo::kernels
#endif
