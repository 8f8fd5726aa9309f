// Trees on the host. The texts written for Lanes are compiled for every vector target; the best one
// that the processor has is taken at run time.
#define ZHALO_BACKEND Host

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

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

// Highway's dispatch wants plain functions.
void leaf_boxes_float(const Host& e, const TreeView<float>& t) { HWY_NAMESPACE::leaf_boxes(e, t); }
void leaf_boxes_double(const Host& e, const TreeView<double>& t) {
  HWY_NAMESPACE::leaf_boxes(e, t);
}
void level_boxes_float(const Host& e, const TreeView<float>& t, int level) {
  HWY_NAMESPACE::level_boxes(e, t, level);
}
void level_boxes_double(const Host& e, const TreeView<double>& t, int level) {
  HWY_NAMESPACE::level_boxes(e, t, level);
}
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(leaf_boxes_float);
HWY_EXPORT(leaf_boxes_double);
HWY_EXPORT(level_boxes_float);
HWY_EXPORT(level_boxes_double);
HWY_EXPORT(target_name);

template <>
void leaf_boxes(const Host& exec, const TreeView<float>& tree) {
  HWY_DYNAMIC_DISPATCH(leaf_boxes_float)(exec, tree);
}
template <>
void leaf_boxes(const Host& exec, const TreeView<double>& tree) {
  HWY_DYNAMIC_DISPATCH(leaf_boxes_double)(exec, tree);
}
template <>
void level_boxes(const Host& exec, const TreeView<float>& tree, int level) {
  HWY_DYNAMIC_DISPATCH(level_boxes_float)(exec, tree, level);
}
template <>
void level_boxes(const Host& exec, const TreeView<double>& tree, int level) {
  HWY_DYNAMIC_DISPATCH(level_boxes_double)(exec, tree, level);
}

const char* simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace zhalo::kernels
#endif
