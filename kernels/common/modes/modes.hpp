/// Modes one by one; fields and displaced particles of initial conditions.
#pragma once

#include <cmath>

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/common/mesh/rows.hpp"
#include "kernels/modes.hpp"

namespace zhalo::kernels {

template <class T>
ZHALO_HD void multiply_mode(Span<T> modes, Index i, double by) {
  modes[2 * i] = static_cast<T>(static_cast<double>(modes[2 * i]) * by);
  modes[2 * i + 1] = static_cast<T>(static_cast<double>(modes[2 * i + 1]) * by);
}

/// Multiplies by the product of the axes' numbers and, if wanted, by i.
template <class T, bool by_i>
struct MultiplyByProduct {
  Span<T> modes;
  AxisTables factors;

  struct Row {
    Span<T> modes;
    Span<const double> factors;
    double factor;
    ZHALO_HD void operator()(Index i, Index c) const {
      const double by = factor * factors[c];
      if constexpr (by_i) {
        const auto real = static_cast<double>(modes[2 * i]);
        modes[2 * i] = static_cast<T>(-static_cast<double>(modes[2 * i + 1]) * by);
        modes[2 * i + 1] = static_cast<T>(real * by);
      } else {
        multiply_mode(modes, i, by);
      }
    }
  };
  ZHALO_HD Row row(Index a, Index b) const {
    return {modes, factors.of[2], factors.of[0][a] * factors.of[1][b]};
  }
};

/// Multiplies by Factor's function of the sum of the axes' numbers.
template <class T, class Factor>
struct MultiplyByFunction {
  Span<T> modes;
  AxisTables terms;

  struct Row {
    Span<T> modes;
    Span<const double> terms;
    double sum;
    ZHALO_HD void operator()(Index i, Index c) const {
      multiply_mode(modes, i, Factor::of(sum + terms[c]));
    }
  };
  ZHALO_HD Row row(Index a, Index b) const {
    return {modes, terms.of[2], terms.of[0][a] + terms.of[1][b]};
  }
};

struct MinusInverse {
  ZHALO_HD static double of(double sum) { return sum > 0 ? -1 / sum : 0; }
};

struct TopHat {
  ZHALO_HD static double of(double x2) {
    // Where the difference would lose digits, its Taylor series.
    if (x2 < 0.04) return 1 - x2 / 10 * (1 - x2 / 28 * (1 - x2 / 54 * (1 - x2 / 88)));
    const double x = std::sqrt(x2);
    return 3 * (std::sin(x) - x * std::cos(x)) / (x * x2);
  }
};

template <class T>
struct ScaleModes {
  Span<T> modes;
  double factor;

  ZHALO_HD ScaleModes row(Index, Index) const { return *this; }
  ZHALO_HD void operator()(Index i, Index) const { multiply_mode(modes, i, factor); }
};

template <class T>
struct AddModes {
  Span<T> modes;
  Span<const T> other;
  double factor;

  ZHALO_HD AddModes row(Index, Index) const { return *this; }
  ZHALO_HD void operator()(Index i, Index) const {
    for (Index part = 2 * i; part < 2 * i + 2; ++part)
      modes[part] = static_cast<T>(static_cast<double>(modes[part]) +
                                   factor * static_cast<double>(other[part]));
  }
};

/// On host and device alike.
struct ComplexNumber {
  double real;
  double imaginary;

  ZHALO_HD friend ComplexNumber operator*(const ComplexNumber& a, const ComplexNumber& b) {
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  }
};

template <class T>
struct AverageTurned {
  Span<T> modes;
  Span<const T> other;
  PhaseTables phases;

  ZHALO_HD ComplexNumber phase(int axis, Index i) const {
    return {phases.real.of[axis][i], phases.imaginary.of[axis][i]};
  }

  struct Row {
    const AverageTurned& action;
    ComplexNumber phase;
    ZHALO_HD void operator()(Index i, Index c) const {
      const ComplexNumber mode{static_cast<double>(action.other[2 * i]),
                               static_cast<double>(action.other[2 * i + 1])};
      const ComplexNumber turned = mode * (phase * action.phase(2, c));
      T* const value = &action.modes[2 * i];
      value[0] = static_cast<T>((static_cast<double>(value[0]) + turned.real) / 2);
      value[1] = static_cast<T>((static_cast<double>(value[1]) + turned.imaginary) / 2);
    }
  };
  ZHALO_HD Row row(Index a, Index b) const { return {*this, phase(0, a) * phase(1, b)}; }
};

template <class E, class T>
void multiply_modes(const E& exec, const ModesView<T>& modes, const AxisTables& factors) {
  act_on_rows(exec, modes.rows, MultiplyByProduct<T, false>{modes.values, factors});
}
template <class E, class T>
void multiply_modes_by_i(const E& exec, const ModesView<T>& modes, const AxisTables& factors) {
  act_on_rows(exec, modes.rows, MultiplyByProduct<T, true>{modes.values, factors});
}
template <class E, class T>
void divide_modes_by_minus(const E& exec, const ModesView<T>& modes, const AxisTables& terms) {
  act_on_rows(exec, modes.rows, MultiplyByFunction<T, MinusInverse>{modes.values, terms});
}
template <class E, class T>
void smooth_modes_top_hat(const E& exec, const ModesView<T>& modes, const AxisTables& squares) {
  act_on_rows(exec, modes.rows, MultiplyByFunction<T, TopHat>{modes.values, squares});
}
template <class E, class T>
void scale_modes(const E& exec, const ModesView<T>& modes, double factor) {
  act_on_rows(exec, modes.rows, ScaleModes<T>{modes.values, factor});
}
template <class E, class T>
void add_modes(const E& exec, const ModesView<T>& modes, Span<const T> other, double factor) {
  act_on_rows(exec, modes.rows, AddModes<T>{modes.values, other, factor});
}
template <class E, class T>
void average_turned_modes(const E& exec, const ModesView<T>& modes, Span<const T> other,
                          const PhaseTables& phases) {
  act_on_rows(exec, modes.rows, AverageTurned<T>{modes.values, other, phases});
}

ZHALO_INSTANTIATE_REALS(multiply_modes);
ZHALO_INSTANTIATE_REALS(multiply_modes_by_i);
ZHALO_INSTANTIATE_REALS(divide_modes_by_minus);
ZHALO_INSTANTIATE_REALS(smooth_modes_top_hat);
ZHALO_INSTANTIATE_REALS(scale_modes);
ZHALO_INSTANTIATE_REALS(add_modes);
ZHALO_INSTANTIATE_REALS(average_turned_modes);

// Products of fields, and particles displaced from the cells of a grid.

template <class T>
struct Multiply {
  const T* a;
  const T* b;
  T* to;
  ZHALO_HD void operator()(Index i) const { to[i] = a[i] * b[i]; }
};

template <class T>
struct AddProduct {
  const T* a;
  const T* b;
  T factor;
  T* to;
  ZHALO_HD void operator()(Index i) const { to[i] += factor * a[i] * b[i]; }
};

template <class T>
struct AddValues {
  const T* a;
  T* to;
  ZHALO_HD void operator()(Index i) const { to[i] += a[i]; }
};

template <class T>
struct DisplaceAxis {
  DisplacedAxis<T> what;

  ZHALO_HD void operator()(Index i) const {
    const double first = static_cast<double>(what.first[i]);
    const double second = what.second == nullptr ? 0 : static_cast<double>(what.second[i]);
    const double moved = what.to_displacement[0] * first + what.to_displacement[1] * second;
    const Index cell = what.cells.cell(i)[what.axis];
    what.pos[i] = wrapped((static_cast<double>(cell) + 0.5) * what.spacing + moved);
    what.velocity[i] = static_cast<T>(what.to_velocity[0] * first + what.to_velocity[1] * second);
  }

 private:
  /// `x` is from the lower edge on. What rounds to the upper edge, also in T, is at the lower one.
  /// What is not finite becomes NaN.
  ZHALO_HD T wrapped(double x) const {
    const T at = static_cast<T>(what.lo + (x - what.length * std::floor(x / what.length)));
    const bool is_outside =
        static_cast<double>(at) < what.lo || static_cast<double>(at) >= what.lo + what.length;
    return is_outside ? smallest_from<T>(what.lo) : at;
  }
};

struct NumberCell {
  CellBlock cells;
  Vec<Index, 3> num;
  std::uint64_t* to;

  ZHALO_HD void operator()(Index i) const {
    const Vec<Index, 3> cell = cells.cell(i);
    to[i] = static_cast<std::uint64_t>((cell[0] * num[1] + cell[1]) * num[2] + cell[2]) + 1;
  }
};

template <class E, class T>
void multiply(const E& exec, Span<const T> a, Span<const T> b, Span<T> to) {
  for_each(exec, to.size(), Multiply<T>{a.data(), b.data(), to.data()});
}
template <class E, class T>
void add_product(const E& exec, Span<const T> a, Span<const T> b, T factor, Span<T> to) {
  for_each(exec, to.size(), AddProduct<T>{a.data(), b.data(), factor, to.data()});
}
template <class E, class T>
void add_values(const E& exec, Span<const T> a, Span<T> to) {
  for_each(exec, to.size(), AddValues<T>{a.data(), to.data()});
}
template <class E, class T>
void displace_axis(const E& exec, const DisplacedAxis<T>& axis) {
  for_each(exec, axis.cells.size(), DisplaceAxis<T>{axis});
}
template <class E>
void number_cells(const E& exec, const CellBlock& cells, const Vec<Index, 3>& num,
                  Span<std::uint64_t> to) {
  for_each(exec, cells.size(), NumberCell{cells, num, to.data()});
}

ZHALO_INSTANTIATE_REALS(multiply);
ZHALO_INSTANTIATE_REALS(add_product);
ZHALO_INSTANTIATE_REALS(add_values);
ZHALO_INSTANTIATE_REALS(displace_axis);
ZHALO_INSTANTIATE(number_cells);

}  // namespace zhalo::kernels
