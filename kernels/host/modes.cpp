// Modes on the host.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <vector>

#include "kernels/host/parallel.hpp"
#include "kernels/modes.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/modes/modes.hpp"
#include "kernels/common/modes/powers.hpp"
#include "kernels/common/modes/random.hpp"

namespace zhalo::kernels {
namespace {

/// Finds the bin of one number after the other: those of a row ascend, and the next one is in the
/// same bin or not far above.
class BinSearch {
 public:
  explicit BinSearch(Span<const double> edges) : edges_(edges) {}

  /// Bin of `square`; negative, or the number of bins, if there is none.
  Index find(double square) {
    if (below_ > 0 && square < edges_[below_ - 1])
      below_ = std::upper_bound(edges_.begin(), edges_.end(), square) - edges_.begin();
    while (below_ < edges_.size() && edges_[below_] <= square) ++below_;
    return below_ - 1;
  }

 private:
  Span<const double> edges_;
  Index below_ = 0;  ///< edges that are not above the number
};

template <ModeFactors factors, class T>
void add_row(const PowerView<T>& modes, Index number, BinSearch& search, Span<double> sums) {
  const PowerRow row(modes, number);
  for (Index c = 0; c < modes.rows.extent[2]; ++c) {
    const double square = row.square + modes.squares.of[2][c];
    const Index bin = search.find(square);
    if (square == 0 || bin < 0 || bin + 1 >= modes.edges.size()) continue;
    double* const of_bin = &sums[bin * modes.width()];
    BinSums bin_sums{of_bin[0], of_bin[1], of_bin[2], {of_bin + 3, modes.num_multipoles}};
    add_mode<factors>(modes, row, c, square, bin_sums);
    of_bin[0] = bin_sums.weight;
    of_bin[1] = bin_sums.k;
    of_bin[2] = bin_sums.power;
  }
}

/// Row by row, with all bins at hand: a mode is looked at once.
template <ModeFactors factors, class T>
std::vector<double> sum_rows(const Host& exec, const PowerView<T>& modes) {
  const Index num_bins = std::max<Index>(modes.edges.size(), 1) - 1;
  std::vector<double> sums(static_cast<std::size_t>(num_bins * modes.width()));
  if (sums.empty() || modes.rows.size() == 0) return sums;
  const PowerParts parts(modes.rows, static_cast<Index>(sums.size()));
  std::vector<double> partial(static_cast<std::size_t>(parts.parts_of_piece) * sums.size());
  for (Index first = 0; first < parts.num(); first += parts.parts_of_piece) {
    std::fill(partial.begin(), partial.end(), 0.0);
    run_tasks(exec, parts.parts_of_piece, [&](Index p) {
      BinSearch search(modes.edges);
      const auto size = static_cast<Index>(sums.size());
      const Span<double> own = Span<double>(partial).subspan(p * size, size);
      for (Index row = parts.first_row(first + p); row < parts.end_row(first + p); ++row)
        add_row<factors>(modes, row, search, own);
    });
    for (std::size_t i = 0; i < partial.size(); ++i) sums[i % sums.size()] += partial[i];
  }
  return sums;
}

}  // namespace

template <class E, class T>
std::vector<double> sum_powers(const E& exec, const PowerView<T>& modes) {
  return modes.has_factors() ? sum_rows<ModeFactors::tables>(exec, modes)
                             : sum_rows<ModeFactors::none>(exec, modes);
}

ZHALO_INSTANTIATE_REALS(sum_powers);

}  // namespace zhalo::kernels
