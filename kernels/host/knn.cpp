// Searches for neighbours on the host, and SPH densities of what they find, compiled like tree.cpp.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/host/dispatch.hpp"
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
#include "kernels/common/knn/first_bounds.inl.hpp"
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

// SPH weights: the operations of SphWeight, in their order.

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

template <class Real>
double density_of_masses(const SphWeight& weight, const NeighbourDistances<Real>& near,
                         const NeighbourColumn<double>& mass) {
  return density(weight, near, mass);
}
template <class Real>
double density_of_equal_masses(const SphWeight& weight, const NeighbourDistances<Real>& near,
                               const EqualMasses& mass) {
  return density(weight, near, mass);
}

ZHALO_TARGET_REALS(density_of_masses);
ZHALO_TARGET_REALS(density_of_equal_masses);
ZHALO_TARGET_REALS(find_nearest_on_host);
ZHALO_TARGET_REALS(find_within, Host);

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

ZHALO_EXPORT_REALS(density_of_masses);
ZHALO_EXPORT_REALS(density_of_equal_masses);
ZHALO_EXPORT_REALS(find_nearest_on_host);
ZHALO_EXPORT_REALS(find_within);

template <class E, class Real>
void find_nearest(const E& exec, const SearchView<Real>& search, Index num_leaves,
                  const BestRows<Real>& rows) {
  ZHALO_BEST_TARGET(find_nearest_on_host, Real)(exec, search, num_leaves, rows);
}
template <class E, class Real>
void find_within(const E& exec, const SearchView<Real>& search, Index num_leaves,
                 const WithinRows<Real>& rows) {
  ZHALO_BEST_TARGET(find_within, Real)(exec, search, num_leaves, rows);
}

template <class Real, class Masses>
double sph_density(const SphWeight& weight, const NeighbourDistances<Real>& near,
                   const Masses& mass) {
  if constexpr (std::is_same_v<Masses, EqualMasses>) {
    return ZHALO_BEST_TARGET(density_of_equal_masses, Real)(weight, near, mass);
  } else {
    return ZHALO_BEST_TARGET(density_of_masses, Real)(weight, near, mass);
  }
}

ZHALO_INSTANTIATE_REALS(find_nearest);
ZHALO_INSTANTIATE_REALS(find_within);

}  // namespace zhalo::kernels
#endif
