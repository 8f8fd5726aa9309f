/// Weights of particles, as whole numbers of units.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/common/mesh/mass_assignment.hpp"
#include "kernels/common/mesh/rows.hpp"

namespace zhalo::kernels {

template <class Real>
struct SummarizeWeight {
  PaintInput<Real> painted;
  static constexpr Index none = std::numeric_limits<Index>::max();

  ZHALO_HD WeightSummary operator()(Index i) const {
    const double weight = painted.weight(i);
    const bool is_finite = weight - weight == 0;
    return {is_finite ? fabs(weight) : 0, is_finite ? 0 : 1, is_finite ? none : i};
  }
};

struct CombineWeightSummaries {
  ZHALO_HD WeightSummary operator()(const WeightSummary& a, const WeightSummary& b) const {
    return {a.largest > b.largest ? a.largest : b.largest, a.num_not_finite + b.num_not_finite,
            a.first_not_finite < b.first_not_finite ? a.first_not_finite : b.first_not_finite};
  }
};

/// Particles whose weights have to be looked at.
template <class Real>
Index num_to_look_at(const PaintInput<Real>& painted) {
  const Index num = painted.particles.num;
  return painted.is_uniform && num > 0 ? 1 : num;
}
/// What a weight that was looked at stands for.
template <class Real>
Index times_each(const PaintInput<Real>& painted) {
  return painted.is_uniform ? painted.particles.num : 1;
}

template <class E, class Real>
WeightSummary summarize_weights(const E& exec, const PaintInput<Real>& painted) {
  WeightSummary summary = transform_reduce(
      exec, num_to_look_at(painted), WeightSummary{0, 0, SummarizeWeight<Real>::none},
      SummarizeWeight<Real>{painted}, CombineWeightSummaries{});
  summary.num_not_finite *= times_each(painted);
  return summary;
}

/// Magnitudes in units, rounded down.
template <class Real>
struct BoundWeight {
  PaintInput<Real> painted;
  ZHALO_HD CountedSum operator()(Index i) const {
    return {static_cast<Index>(fabs(painted.weight(i)) * painted.scale), 1};
  }
};

template <class E, class Real>
Index bound_weights(const E& exec, const PaintInput<Real>& painted) {
  const CountedSum bound = transform_reduce(exec, num_to_look_at(painted), CountedSum{},
                                            BoundWeight<Real>{painted}, AddCountedSums{});
  return times_each(painted) * (bound.sum + bound.num);
}

template <class Real>
struct MeasureWeight {
  PaintInput<Real> painted;

  ZHALO_HD WeightSums operator()(Index i) const {
    const double fixed_weight = painted.weight(i) * painted.scale;
    return {static_cast<Index>(whole(fixed_weight)), fixed_weight * fixed_weight};
  }
};

struct AddWeightSums {
  ZHALO_HD WeightSums operator()(const WeightSums& a, const WeightSums& b) const {
    return {a.fixed_weight + b.fixed_weight, a.squares + b.squares};
  }
};

template <class E, class Real>
WeightSums sum_weights(const E& exec, const PaintInput<Real>& painted) {
  const WeightSums sums = transform_reduce(exec, num_to_look_at(painted), WeightSums{},
                                           MeasureWeight<Real>{painted}, AddWeightSums{});
  const Index times = times_each(painted);
  return {sums.fixed_weight * times, sums.squares * static_cast<double>(times)};
}

ZHALO_INSTANTIATE_REALS(summarize_weights);
ZHALO_INSTANTIATE_REALS(bound_weights);
ZHALO_INSTANTIATE_REALS(sum_weights);

}  // namespace zhalo::kernels
