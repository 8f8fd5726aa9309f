// Modes on the host, and power spectra, which are binned here for every Exec.
#define ZHALO_BACKEND Host

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/host/parallel.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/modes/modes.hpp"

namespace zhalo::kernels {
namespace {

/// Parts of the rows that are summed one by one, whatever the number of threads.
constexpr Index max_parts = 64;
constexpr Index max_partial_sums = Index{1} << 22;

/// Finds the bin of one number after the other: those of a row mostly ascend, and the next one is
/// in the same bin or not far above.
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

/// (2 l + 1) times the Legendre polynomial of mu, l = 0, 2, ..., each times `value`, is added.
void add_multipoles(Span<double> sums, double mu, double value) {
  double even = 1;
  double odd = mu;
  for (Index l = 0; l < sums.size(); ++l) {
    const auto n = static_cast<double>(2 * l);
    sums[l] += value * (2 * n + 1) * even;
    // By the recurrence n P_n = (2 n - 1) mu P_(n - 1) - (n - 1) P_(n - 2), twice.
    even = ((2 * n + 3) * mu * odd - (n + 1) * even) / (n + 2);
    odd = ((2 * n + 5) * mu * even - (n + 2) * odd) / (n + 3);
  }
}

template <class T>
void add_row(const PowerView<T>& modes, Index row, BinSearch& search, Span<double> sums) {
  const Index length = modes.rows.extent[2];
  const Index a = row / modes.rows.extent[1];
  const Index b = row % modes.rows.extent[1];
  const double square_ab = modes.squares.of[0][a] + modes.squares.of[1][b];
  const double along_ab = modes.along.of[0][a] + modes.along.of[1][b];
  const double weight_ab = modes.weights.of[0][a] * modes.weights.of[1][b];
  const Index first =
      modes.rows.place(a, b) - modes.rows.place(modes.first_row / modes.rows.extent[1],
                                                modes.first_row % modes.rows.extent[1]);
  for (Index c = 0; c < length; ++c) {
    const double square = square_ab + modes.squares.of[2][c];
    const Index bin = search.find(square);
    if (square == 0 || bin < 0 || bin + 1 >= modes.edges.size()) continue;
    const double weight = weight_ab * modes.weights.of[2][c];
    const Index i = 2 * (first + c);
    const double power =
        weight * (static_cast<double>(modes.a[i]) * static_cast<double>(modes.b[i]) +
                  static_cast<double>(modes.a[i + 1]) * static_cast<double>(modes.b[i + 1]));
    const Span<double> of_bin = sums.subspan(bin * modes.width(), modes.width());
    const double k = std::sqrt(square);
    of_bin[0] += weight;
    of_bin[1] += weight * k;
    of_bin[2] += power;
    if (modes.num_multipoles > 0)
      add_multipoles(of_bin.subspan(3, modes.num_multipoles), (along_ab + modes.along.of[2][c]) / k,
                     power);
  }
}

}  // namespace

template <class T>
void add_powers(const Host& exec, const PowerView<T>& modes, Span<double> sums) {
  const Index parts =
      std::clamp<Index>(max_partial_sums / std::max<Index>(sums.size(), 1), 1, max_parts);
  std::vector<double> partial(static_cast<std::size_t>(parts * sums.size()));
  run_tasks(exec, parts, [&](Index part) {
    BinSearch search(modes.edges);
    const Span<double> own = Span<double>(partial).subspan(part * sums.size(), sums.size());
    const Index last = modes.first_row + modes.num_rows * (part + 1) / parts;
    for (Index row = modes.first_row + modes.num_rows * part / parts; row < last; ++row)
      add_row(modes, row, search, own);
  });
  for (Index part = 0; part < parts; ++part)
    for (Index i = 0; i < sums.size(); ++i)
      sums[i] += partial[static_cast<std::size_t>(part * sums.size() + i)];
}

template void add_powers(const Host&, const PowerView<float>&, Span<double>);
template void add_powers(const Host&, const PowerView<double>&, Span<double>);

}  // namespace zhalo::kernels
