// Modes on CUDA.
#define ZHALO_BACKEND Cuda

#include <algorithm>
#include <vector>

#include "kernels/cuda/launch.cuh"
#include "kernels/memory.hpp"
#include "zhalo/core/buffer.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/modes/modes.hpp"
#include "kernels/common/modes/powers.hpp"
#include "kernels/common/modes/random.hpp"

namespace zhalo::kernels {

/// The sums of one bin over one part: squares ascend along a row, so that the modes of a bin follow
/// each other, not far from where they are in the row before.
template <class T, ModeFactors factors>
struct SumPart {
  static constexpr bool long_elements = true;

  PowerView<T> modes;
  PowerParts parts;
  Index first_part = 0;
  Span<double> partial;  ///< by part, bin and number

  ZHALO_HD void operator()(Index i) const {
    const Index num_bins = modes.edges.size() - 1;
    const Index part = first_part + i / num_bins;
    const Index bin = i % num_bins;
    const Span<double> own = partial.subspan(i * modes.width(), modes.width());
    for (double& number : own) number = 0;
    BinSums sums{0, 0, 0, own.subspan(3, own.size() - 3)};
    Index first = 0;
    const Index end = parts.end_row(part);
    for (Index row = parts.first_row(part); row < end; ++row)
      first = add_row(PowerRow(modes, row), bin, first, sums);
    own[0] = sums.weight;
    own[1] = sums.k;
    own[2] = sums.power;
  }

  /// Looks for the bin's first mode from `first` on, up or down; returns where it is.
  ZHALO_HD Index add_row(const PowerRow& row, Index bin, Index first, BinSums& sums) const {
    const double lo = modes.edges[bin];
    const double hi = modes.edges[bin + 1];
    const Span<const double> squares = modes.squares.of[2];
    while (first > 0 && row.square + squares[first - 1] >= lo) --first;
    while (first < squares.size() && row.square + squares[first] < lo) ++first;
    for (Index c = first; c < squares.size(); ++c) {
      const double square = row.square + squares[c];
      if (!(square < hi)) break;
      if (square != 0) add_mode<factors>(modes, row, c, square, sums);
    }
    return first;
  }
};

/// Adds the parts' sums in order.
struct AddPartialSums {
  static constexpr bool long_elements = true;

  Span<const double> partial;
  Index num_parts = 0;
  Span<double> sums;

  ZHALO_HD void operator()(Index i) const {
    constexpr Index at_once = 8;  // loads that do not wait for the additions before them
    double sum = sums[i];
    Index part = 0;
    for (; part + at_once <= num_parts; part += at_once) {
      double value[static_cast<std::size_t>(at_once)];
      ZHALO_UNROLL
      for (Index n = 0; n < at_once; ++n) value[n] = partial[(part + n) * sums.size() + i];
      ZHALO_UNROLL
      for (const double one : value) sum += one;
    }
    for (; part < num_parts; ++part) sum += partial[part * sums.size() + i];
    sums[i] = sum;
  }
};

/// One bin of one part for each thread.
template <class E, class T>
std::vector<double> sum_powers(const E& exec, const PowerView<T>& modes) {
  const Index num_bins = std::max<Index>(modes.edges.size(), 1) - 1;
  std::vector<double> on_host(static_cast<std::size_t>(num_bins * modes.width()));
  if (on_host.empty() || modes.rows.size() == 0) return on_host;
  const auto num_sums = static_cast<Index>(on_host.size());
  const PowerParts parts(modes.rows, num_sums);
  const Index parts_at_once =
      std::clamp<Index>(PowerParts::max_partial_sums / num_sums, 1, parts.num());
  Buffer<double> partial(exec, parts_at_once * num_sums, "sums of a power spectrum");
  auto sums = to_exec(exec, Span<const double>(on_host), "sums of a power spectrum");
  for (Index first = 0; first < parts.num(); first += parts_at_once) {
    const Index count = std::min(parts_at_once, parts.num() - first);
    if (modes.has_factors()) {
      for_each(exec, count * num_bins,
               SumPart<T, ModeFactors::tables>{modes, parts, first, partial.span()});
    } else {
      for_each(exec, count * num_bins,
               SumPart<T, ModeFactors::none>{modes, parts, first, partial.span()});
    }
    for_each(exec, num_sums,
             AddPartialSums{Span<const double>(partial.span()), count, sums.span()});
  }
  copy_bytes(exec, on_host.data(), sums.data(), on_host.size() * sizeof(double));
  return on_host;
}

ZHALO_INSTANTIATE_REALS(sum_powers);

}  // namespace zhalo::kernels
