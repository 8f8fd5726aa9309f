// The texts that are written for Lanes, compiled for every vector target; the best one that the
// processor has is taken at run time.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/common/lanes.hpp"
#include "kernels/host/parallel.hpp"
#include "kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/groups.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/host/simd_lanes.inl.hpp"
// After the group.
#include "kernels/common/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/boxes.inl.hpp"
#include "kernels/common/fof_link.inl.hpp"
#include "kernels/common/fof_walk.inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {

template <class Real>
void leaf_boxes(const Host& exec, const TreeView<Real>& tree) {
  for_each_with_lanes(exec, tree.level_size[0], LeafBox<SimdLanes<Real>>{tree}, SimdLanes<Real>{});
}
template <class Real>
void level_boxes(const Host& exec, const TreeView<Real>& tree, int level) {
  for_each_with_lanes(exec, tree.level_size[level], NodeBox<SimdLanes<Real>>{tree, level},
                      SimdLanes<Real>{});
}
template <class Real>
void link_inside(const Host& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.tree.level_size[0], LinkInside<SimdLanes<Real>>{{fof}},
                      SimdLanes<Real>{});
}
template <class Real>
void link_between(const Host& exec, const FofView<Real>& fof) {
  for_each_with_lanes(exec, fof.walkers.tree.level_size[fof.walk_level],
                      LinkBetween<SimdLanes<Real>>{{fof}}, SimdLanes<Real>{});
}

// Highway's dispatch wants plain functions.
void leaf_boxes_float(const Host& e, const TreeView<float>& t) { leaf_boxes(e, t); }
void leaf_boxes_double(const Host& e, const TreeView<double>& t) { leaf_boxes(e, t); }
void level_boxes_float(const Host& e, const TreeView<float>& t, int level) {
  level_boxes(e, t, level);
}
void level_boxes_double(const Host& e, const TreeView<double>& t, int level) {
  level_boxes(e, t, level);
}
void link_inside_float(const Host& e, const FofView<float>& fof) { link_inside(e, fof); }
void link_inside_double(const Host& e, const FofView<double>& fof) { link_inside(e, fof); }
void link_between_float(const Host& e, const FofView<float>& fof) { link_between(e, fof); }
void link_between_double(const Host& e, const FofView<double>& fof) { link_between(e, fof); }
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(leaf_boxes_float);
HWY_EXPORT(leaf_boxes_double);
HWY_EXPORT(level_boxes_float);
HWY_EXPORT(level_boxes_double);
HWY_EXPORT(link_inside_float);
HWY_EXPORT(link_inside_double);
HWY_EXPORT(link_between_float);
HWY_EXPORT(link_between_double);
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

const char* simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace zhalo::kernels
#endif
