/// Power spectra: how modes are divided for sums in a fixed order, and what a mode adds.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/common/backend.hpp"
#include "kernels/modes.hpp"

namespace zhalo::kernels {

/// How the rows of a rank are divided for summing, whatever sums them: into pieces, and each piece
/// into parts. Each part has sums of its own, which are added part after part.
struct PowerParts {
  static constexpr Index modes_of_piece = Index{1} << 22;
  static constexpr Index max_parts = 64;
  static constexpr Index max_partial_sums = Index{1} << 22;

  Index num_rows;
  Index rows_of_piece;
  Index parts_of_piece;

  PowerParts(const GridRows& rows, Index num_sums)
      : num_rows(rows.extent[0] * rows.extent[1]),
        rows_of_piece(std::max<Index>(1, modes_of_piece / std::max<Index>(rows.extent[2], 1))),
        parts_of_piece(
            std::clamp<Index>(max_partial_sums / std::max<Index>(num_sums, 1), 1, max_parts)) {}

  Index num() const { return (num_rows + rows_of_piece - 1) / rows_of_piece * parts_of_piece; }
  /// The first row of a part; the part ends where the next one begins.
  ZHALO_HD Index first_row(Index part) const {
    const Index first = part / parts_of_piece * rows_of_piece;
    const Index left = num_rows - first;
    const Index rows = left < rows_of_piece ? left : rows_of_piece;
    return first + rows * (part % parts_of_piece) / parts_of_piece;
  }
  ZHALO_HD Index end_row(Index part) const {
    return (part + 1) % parts_of_piece != 0 ? first_row(part + 1) : end_of_piece(part);
  }

 private:
  ZHALO_HD Index end_of_piece(Index part) const {
    const Index end = (part / parts_of_piece + 1) * rows_of_piece;
    return end < num_rows ? end : num_rows;
  }
};

/// (2 l + 1) times the Legendre polynomial of mu, l = 0, 2, ..., each times `value`, is added.
ZHALO_HD inline void add_multipoles(Span<double> sums, double mu, double value) {
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

/// What the modes of a row have in common.
struct PowerRow {
  Index first = 0;  ///< offset of its first mode
  double square = 0;
  double along = 0;
  double factor = 1;

  template <class T>
  ZHALO_HD PowerRow(const PowerView<T>& modes, Index row) {
    const Index a = row / modes.rows.extent[1];
    const Index b = row - a * modes.rows.extent[1];
    first = modes.rows.offset(a, b);
    square = modes.squares.of[0][a] + modes.squares.of[1][b];
    along = modes.along.of[0][a] + modes.along.of[1][b];
    if (modes.has_factors()) factor = modes.factors.of[0][a] * modes.factors.of[1][b];
  }
};

/// The numbers of a bin.
struct BinSums {
  double weight = 0;
  double k = 0;
  double power = 0;
  Span<double> multipoles;
};

/// Whether modes are multiplied before they count.
enum class ModeFactors { none, tables };

/// Adds what mode c of a row contributes; `square` is that of its wave vector, which is not 0.
template <ModeFactors factors, class T>
ZHALO_HD void add_mode(const PowerView<T>& modes, const PowerRow& row, Index c, double square,
                       BinSums& sums) {
  const double weight = modes.weights[c];
  const Index i = 2 * (row.first + c);
  const double by = factors == ModeFactors::none ? 1 : row.factor * modes.factors.of[2][c];
  // Rounded as multiply_modes() does.
  const auto value = [by](T number) {
    const auto exact = static_cast<double>(number);
    return factors == ModeFactors::none ? exact : static_cast<double>(static_cast<T>(exact * by));
  };
  const double power = weight * (value(modes.a[i]) * value(modes.b[i]) +
                                 value(modes.a[i + 1]) * value(modes.b[i + 1]));
  const double k = std::sqrt(square);
  sums.weight += weight;
  sums.k += weight * k;
  sums.power += power;
  if (!sums.multipoles.empty())
    add_multipoles(sums.multipoles, (row.along + modes.along.of[2][c]) / k, power);
}

}  // namespace zhalo::kernels
