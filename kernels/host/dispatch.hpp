/// Templates on the type of coordinates in files that are compiled for every vector target. Highway
/// takes the best target for plain functions only, so that each template becomes two of them.
#pragma once

#include <type_traits>

// NOLINTBEGIN(bugprone-macro-parentheses): names, which take none
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): functions are constant
/// In the namespace of a target: name<..., float> and name<..., double> as plain functions.
#define ZHALO_TARGET_REALS(name, ...)                                                       \
  constexpr auto& name##_of_floats = HWY_NAMESPACE::name<__VA_ARGS__ __VA_OPT__(, ) float>; \
  constexpr auto& name##_of_doubles = HWY_NAMESPACE::name<__VA_ARGS__ __VA_OPT__(, ) double>

/// Once for all targets, before ZHALO_BEST_TARGET of the name.
#define ZHALO_EXPORT_REALS(name) \
  HWY_EXPORT(name##_of_floats);  \
  HWY_EXPORT(name##_of_doubles)

/// The function name<..., Real> of the best target that the processor has.
#define ZHALO_BEST_TARGET(name, Real)                                   \
  kernels::choose_by_real<Real>(HWY_DYNAMIC_DISPATCH(name##_of_floats), \
                                HWY_DYNAMIC_DISPATCH(name##_of_doubles))

/// Behind the definition of a template that calls the best target.
#define ZHALO_INSTANTIATE_OF_REALS(name)      \
  template decltype(name<float>) name<float>; \
  template decltype(name<double>) name<double>
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
// NOLINTEND(bugprone-macro-parentheses)

namespace zhalo::kernels {

template <class Real, class OfFloats, class OfDoubles>
constexpr auto choose_by_real(OfFloats* of_floats, OfDoubles* of_doubles) {
  if constexpr (std::is_same_v<Real, float>) {
    return of_floats;
  } else {
    return of_doubles;
  }
}

}  // namespace zhalo::kernels
