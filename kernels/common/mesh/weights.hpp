/// Weights of particles, as whole numbers of units.
#pragma once

#include <limits>

#include "kernels/common/mesh/mass_assignment.hpp"
#include "kernels/common/mesh/rows.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

template <class Real>
struct SummarizeWeight {
  PaintInput<Real> painted;
  static constexpr Index none = std::numeric_limits<Index>::max();

  ZHALO_HD WeightSummary operator()(Index i) const { return of(painted.weight(i), i); }
  ZHALO_HD WeightSummary of(double weight, Index i) const {
    const bool is_good = weight - weight == 0 && !(weight < 0 && painted.weights_are_masses());
    return {is_good ? fabs(weight) : 0, is_good ? 0 : 1, is_good ? none : i};
  }
};

struct CombineWeightSummaries {
  ZHALO_HD WeightSummary operator()(const WeightSummary& a, const WeightSummary& b) const {
    return {a.largest > b.largest ? a.largest : b.largest, a.num_bad + b.num_bad,
            a.first_bad < b.first_bad ? a.first_bad : b.first_bad};
  }
};

template <class E, class Real>
WeightSummary summarize_weights(const E& exec, const PaintInput<Real>& painted) {
  using One = SummarizeWeight<Real>;
  const Index num = painted.particles.num;
  if (painted.is_uniform && num > 0) {
    WeightSummary summary = One{painted}.of(painted.uniform_weight(), 0);
    summary.num_bad *= num;
    return summary;
  }
  return transform_reduce(exec, num, WeightSummary{0, 0, One::none}, One{painted},
                          CombineWeightSummaries{});
}

/// Magnitudes in units, rounded down.
template <class Real>
struct BoundWeight {
  PaintInput<Real> painted;
  ZHALO_HD CountedSum operator()(Index i) const { return of(painted.weight(i), painted.scale); }
  ZHALO_HD static CountedSum of(double weight, double scale) {
    return {static_cast<Index>(fabs(weight) * scale), 1};
  }
};

template <class E, class Real>
Index bound_weights(const E& exec, const PaintInput<Real>& painted) {
  using One = BoundWeight<Real>;
  const Index num = painted.particles.num;
  if (painted.is_uniform && num > 0)
    return num * (One::of(painted.uniform_weight(), painted.scale).sum + 1);
  const CountedSum bound =
      transform_reduce(exec, num, CountedSum{}, One{painted}, AddCountedSums{});
  return bound.sum + bound.num;
}

ZHALO_HD inline WideSum product(Index a, Index b) {
  constexpr std::uint64_t half = 0xffffffff;
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  const std::uint64_t low = (x & half) * (y & half);
  const std::uint64_t first = (x >> 32) * (y & half) + (low >> 32);
  const std::uint64_t second = (x & half) * (y >> 32) + (first & half);
  return {(x >> 32) * (y >> 32) + (first >> 32) + (second >> 32), second << 32 | (low & half)};
}

ZHALO_HD inline WideSum operator+(const WideSum& a, const WideSum& b) {
  const std::uint64_t low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1 : 0), low};
}

template <class Real>
struct MeasureWeight {
  PaintInput<Real> painted;

  ZHALO_HD WeightSums operator()(Index i) const { return of(painted.weight(i), painted.scale); }
  ZHALO_HD static WeightSums of(double weight, double scale) {
    const auto fixed_weight = static_cast<Index>(whole(weight * scale));
    const Index magnitude = fixed_weight < 0 ? -fixed_weight : fixed_weight;
    return {fixed_weight, product(magnitude, magnitude)};
  }
};

struct AddWeightSums {
  ZHALO_HD WeightSums operator()(const WeightSums& a, const WeightSums& b) const {
    return {a.fixed_weight + b.fixed_weight, a.squares + b.squares};
  }
};

template <class E, class Real>
WeightSums sum_weights(const E& exec, const PaintInput<Real>& painted) {
  using One = MeasureWeight<Real>;
  const Index num = painted.particles.num;
  if (painted.is_uniform && num > 0) {
    const Index each = One::of(painted.uniform_weight(), painted.scale).fixed_weight;
    const Index magnitude = each < 0 ? -each : each;
    return {each * num, product(magnitude, magnitude * num)};
  }
  return transform_reduce(exec, num, WeightSums{}, One{painted}, AddWeightSums{});
}

// ---------------------------------------------------------------- without a wait in between

/// From what was found so far to the scale for what comes next. Bad weights end painting: until
/// then their scale is 0.
struct ChooseScale {
  WeightLedger* ledger;
  const CountedSum* bound;  ///< null: there is none yet
  Index total;

  ZHALO_HD void operator()(Index) const {
    const double largest = ledger->summary.largest;
    const bool are_good = ledger->summary.num_bad == 0;
    double scale = are_good ? 1 : 0;
    if (bound != nullptr) ledger->bound = bound->sum + bound->num;
    if (are_good && largest > 0) {
      int exponent = estimate_exponent(largest, total);
      if (bound != nullptr) exponent = choose_exponent(largest, exponent, ledger->bound);
      scale = ldexp(1.0, exponent);
    }
    (bound != nullptr ? ledger->scale : ledger->scale_of_bound) = scale;
  }
};

/// One::of(weight, scale) with a scale that is in memory of the Exec.
template <class One, class Real>
struct OfScaledWeight {
  PaintInput<Real> painted;
  const double* scale;

  ZHALO_HD auto operator()(Index i) const {
    const double units = *scale;
    return One::of(units == 0 ? 0.0 : painted.weight(i), units);
  }
};

template <class E, class Real>
void queue_weights(const E& exec, const PaintInput<Real>& painted, WeightLedger* ledger) {
  const Index num = painted.particles.num;
  Buffer<CountedSum> bound(exec, 1, "weights of particles");
  queue_reduce(exec, num,
               MapReduce{WeightSummary{0, 0, SummarizeWeight<Real>::none},
                         SummarizeWeight<Real>{painted}, CombineWeightSummaries{}},
               &ledger->summary);
  for_each(exec, 1, ChooseScale{ledger, nullptr, num});
  using Bound = OfScaledWeight<BoundWeight<Real>, Real>;
  queue_reduce(exec, num,
               MapReduce{CountedSum{}, Bound{painted, &ledger->scale_of_bound}, AddCountedSums{}},
               bound.data());
  for_each(exec, 1, ChooseScale{ledger, bound.data(), num});
  using Measure = OfScaledWeight<MeasureWeight<Real>, Real>;
  queue_reduce(exec, num,
               MapReduce{WeightSums{}, Measure{painted, &ledger->scale}, AddWeightSums{}},
               &ledger->sums);
}

ZHALO_INSTANTIATE_REALS(summarize_weights);
ZHALO_INSTANTIATE_REALS(bound_weights);
ZHALO_INSTANTIATE_REALS(sum_weights);
ZHALO_INSTANTIATE_REALS(queue_weights);

}  // namespace zhalo::kernels
