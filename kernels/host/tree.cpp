// Trees on the host. The texts written for Lanes are compiled for every vector target; the best one
// that the processor has is taken at run time.
#define ZHALO_BACKEND Host

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/host/dispatch.hpp"
#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/tree/leaves.hpp"
#include "kernels/lanes/lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/tree.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes/simd_lanes.inl.hpp"
// After the lanes.
#include "kernels/common/tree/boxes.inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

ZHALO_TARGET_REALS(leaf_boxes, Host);
ZHALO_TARGET_REALS(level_boxes, Host);
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

ZHALO_EXPORT_REALS(leaf_boxes);
ZHALO_EXPORT_REALS(level_boxes);
HWY_EXPORT(target_name);

template <class E, class Real>
void leaf_boxes(const E& exec, const TreeView<Real>& tree) {
  ZHALO_BEST_TARGET(leaf_boxes, Real)(exec, tree);
}
template <class E, class Real>
void level_boxes(const E& exec, const TreeView<Real>& tree, int level) {
  ZHALO_BEST_TARGET(level_boxes, Real)(exec, tree, level);
}

ZHALO_INSTANTIATE_REALS(leaf_boxes);
ZHALO_INSTANTIATE_REALS(level_boxes);

const char* simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace zhalo::kernels
#endif
