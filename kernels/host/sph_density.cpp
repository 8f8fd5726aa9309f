// SPH weights in vectors, compiled for every vector target: the operations of SphWeight, in their
// order.
#include "kernels/host/sph_density.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/sph_density.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using Doubles = hn::Vec<DoubleTag>;

HWY_INLINE Doubles set(double x) { return hn::Set(DoubleTag{}, x); }

/// Square roots in the precision of the positions.
HWY_INLINE Doubles distances(const float* distance2) {
  const hn::Rebind<float, DoubleTag> floats;
  return hn::PromoteTo(DoubleTag{}, hn::Sqrt(hn::LoadU(floats, distance2)));
}
HWY_INLINE Doubles distances(const double* distance2) {
  return hn::Sqrt(hn::LoadU(DoubleTag{}, distance2));
}

/// SphWeight::shape.
template <SphKernel kernel>
HWY_INLINE Doubles shape(Doubles q) {
  const Doubles one = set(1);
  const Doubles u = hn::Sub(one, q);
  const Doubles u2 = hn::Mul(u, u);
  if constexpr (kernel == SphKernel::cubic_spline) {
    const Doubles near = hn::Sub(one, hn::Mul(hn::Mul(hn::Mul(set(6), q), q), u));
    const Doubles far = hn::Mul(hn::Mul(set(2), u2), u);
    return hn::IfThenElse(hn::Lt(q, set(0.5)), near, far);
  } else if constexpr (kernel == SphKernel::wendland_c2) {
    return hn::Mul(hn::Mul(u2, u2), hn::Add(one, hn::Mul(set(4), q)));
  } else {
    const Doubles square = hn::Mul(hn::Mul(set(35.0 / 3), q), q);
    return hn::Mul(hn::Mul(hn::Mul(u2, u2), u2), hn::Add(hn::Add(one, hn::Mul(set(6), q)), square));
  }
}

/// Weights of some neighbours of a query. Those behind the last one fill a vector.
struct alignas(64) Weights {
  static constexpr Index size = 64;
  double of[size];
};

template <SphKernel kernel, class Real, class Masses>
double density_by(const SphWeight& weight, const NeighbourDistances<Real>& near,
                  const Masses& mass) {
  const DoubleTag d;
  const Doubles norm = set(weight.norm());
  const Doubles support = set(near.support);
  const Doubles volume = set(weight.volume(near.support));
  const Doubles unit = set(near.unit);
  const auto step = static_cast<Index>(hn::Lanes(d));
  double sum = 0;
  for (Index first = 0; first < near.num; first += Weights::size) {
    const Index num = std::min(near.num - first, Weights::size);
    Weights weights;
    for (Index i = 0; i < num; i += step) {
      const Doubles r = hn::Mul(distances(near.distance2 + first + i), unit);
      const Doubles q = hn::Div(r, support);
      const Doubles inside = hn::Div(hn::Mul(norm, shape<kernel>(q)), volume);
      hn::Store(hn::IfThenElseZero(hn::Lt(q, set(1)), inside), d, weights.of + i);
    }
    for (Index i = 0; i < num; ++i) sum += mass[first + i] * weights.of[i];
  }
  return sum;
}

template <class Real, class Masses>
double density(const SphWeight& weight, const NeighbourDistances<Real>& near, const Masses& mass) {
  switch (weight.kernel) {
    case SphKernel::cubic_spline: return density_by<SphKernel::cubic_spline>(weight, near, mass);
    case SphKernel::wendland_c2: return density_by<SphKernel::wendland_c2>(weight, near, mass);
    case SphKernel::wendland_c4: return density_by<SphKernel::wendland_c4>(weight, near, mass);
  }
  return 0;  // there is no other
}

}  // namespace

// Highway's dispatch wants plain functions.
double density_of_floats(const SphWeight& weight, const NeighbourDistances<float>& near,
                         const NeighbourColumn<double>& mass) {
  return density(weight, near, mass);
}
double density_of_doubles(const SphWeight& weight, const NeighbourDistances<double>& near,
                          const NeighbourColumn<double>& mass) {
  return density(weight, near, mass);
}
double equal_density_of_floats(const SphWeight& weight, const NeighbourDistances<float>& near,
                               const EqualMasses& mass) {
  return density(weight, near, mass);
}
double equal_density_of_doubles(const SphWeight& weight, const NeighbourDistances<double>& near,
                                const EqualMasses& mass) {
  return density(weight, near, mass);
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(density_of_floats);
HWY_EXPORT(density_of_doubles);
HWY_EXPORT(equal_density_of_floats);
HWY_EXPORT(equal_density_of_doubles);

double sph_density(const SphWeight& weight, const NeighbourDistances<float>& near,
                   const NeighbourColumn<double>& mass) {
  return HWY_DYNAMIC_DISPATCH(density_of_floats)(weight, near, mass);
}
double sph_density(const SphWeight& weight, const NeighbourDistances<double>& near,
                   const NeighbourColumn<double>& mass) {
  return HWY_DYNAMIC_DISPATCH(density_of_doubles)(weight, near, mass);
}
double sph_density(const SphWeight& weight, const NeighbourDistances<float>& near,
                   const EqualMasses& mass) {
  return HWY_DYNAMIC_DISPATCH(equal_density_of_floats)(weight, near, mass);
}
double sph_density(const SphWeight& weight, const NeighbourDistances<double>& near,
                   const EqualMasses& mass) {
  return HWY_DYNAMIC_DISPATCH(equal_density_of_doubles)(weight, near, mass);
}

}  // namespace zhalo::kernels
#endif
