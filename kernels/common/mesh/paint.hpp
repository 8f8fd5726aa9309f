/// Particles on grids: weights, deposits, owners, values at points, and cells that become others.
#pragma once

#include <limits>

#include "kernels/common/mesh/mass_assignment.hpp"
#include "kernels/common/mesh/rows.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo::kernels {

// Weights of particles, as whole numbers of units.

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

// ---------------------------------------------------------------- particles and cells

template <int order, class Real>
struct FindOwner {
  OwnerSearch<Real> search;
  Span<std::uint64_t> keys;

  ZHALO_HD void operator()(Index i) const {
    const Vec<Real, 3> pos = search.particles[search.first + i].pos(3);
    const Index x = first_cell<order>(search.cells.axis[0], static_cast<double>(pos[0]));
    const Index y = first_cell<order>(search.cells.axis[1], static_cast<double>(pos[1]));
    keys[i] = static_cast<std::uint64_t>(Index{search.owners.row[x]} * search.owners.num_columns +
                                         Index{search.owners.column[y]});
  }
};

template <class E, class Real>
void find_owners(const E& exec, const OwnerSearch<Real>& search, Span<std::uint64_t> keys) {
  with_order(search.cells.order, [&](auto order) {
    for_each(exec, keys.size(), FindOwner<decltype(order)::value, Real>{search, keys});
  });
}

template <class Real>
struct PackPainted {
  PaintInput<Real> painted;
  Index first;
  Span<const LocalIndex> at;
  PaintedColumns<Real> to;

  ZHALO_HD void prefetch(Index i) const {
    const ParticleRow<Real> p = painted.particles[first + Index{at[i]}];
    for (int axis = 0; axis < 3; ++axis) prefetch_line(&p.segment.pos[axis][p.row]);
  }
  ZHALO_HD void operator()(Index i) const {
    const Index from = first + Index{at[i]};
    const Vec<Real, 3> pos = painted.particles[from].pos(3);
    for (int axis = 0; axis < 3; ++axis) to.pos[axis][i] = pos[axis];
    if (!to.fixed_weight.empty()) to.fixed_weight[i] = whole(painted.weight(from) * painted.scale);
  }
};

template <class E, class Real>
void pack_painted(const E& exec, const PaintInput<Real>& painted, Index first,
                  Span<const LocalIndex> at, const PaintedColumns<Real>& to) {
  for_each(exec, at.size(), PackPainted<Real>{painted, first, at, to});
}

template <class From, class To>
struct MapCells {
  CellRows rows;
  const From* from;
  To* to;
  LinearMap map;

  struct Row {
    const From* from;
    To* to;
    LinearMap map;
    ZHALO_HD From operator()(Index offset, Index c) const {
      const From value = from[c];
      to[offset] = static_cast<To>(static_cast<double>(value) * map.factor + map.addend);
      return value;
    }
  };
  ZHALO_HD Row row(Index a, Index b) const {
    return {from + a * rows.from_stride[0] + b * rows.from_stride[1], to, map};
  }
};

inline GridRows target_of(const CellRows& rows) {
  return {{rows.num[0], rows.num[1], rows.num[2]}, {rows.to_stride[0], rows.to_stride[1]}, 0};
}

template <class E, class From, class To>
void map_cells(const E& exec, const CellRows& rows, const From* from, To* to,
               const LinearMap& map) {
  act_on_rows(exec, target_of(rows), MapCells<From, To>{rows, from, to, map});
}

template <class E, class To>
Index write_fixed_weights(const E& exec, const CellRows& rows, const Index* from, To* to,
                          const LinearMap& map) {
  return sum_over_rows(exec, target_of(rows), MapCells<Index, To>{rows, from, to, map});
}

/// The sums of all cells at once.
template <class E, class Real, class To>
Index paint_by_sums(const E& exec, const PaintInput<Real>& painted, const MeshCells& cells,
                    const PaintTarget<To>& to) {
  CellRows rows;
  for (int axis = 0; axis < 3; ++axis) rows.num[axis] = cells.axis[axis].num_own;
  for (int axis = 0; axis < 2; ++axis) {
    rows.from_stride[axis] = cells.axis[axis].stride;
    rows.to_stride[axis] = to.stride[axis];
  }
  Buffer<Index> sums(exec, rows.num[0] * rows.num[1] * rows.num[2], "sums of cells");
  fill(exec, sums.span(), Index{0});
  deposit(exec, painted, cells, sums.span());
  return write_fixed_weights(exec, rows, sums.data(), to.first, to.map);
}

ZHALO_INSTANTIATE_REALS(find_owners);
ZHALO_INSTANTIATE_REALS(pack_painted);
ZHALO_INSTANTIATE(map_cells, float, float);
ZHALO_INSTANTIATE(map_cells, double, double);
ZHALO_INSTANTIATE_REALS(write_fixed_weights);

}  // namespace zhalo::kernels
