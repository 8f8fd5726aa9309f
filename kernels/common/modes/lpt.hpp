/// Products of fields, and particles displaced from the cells of a grid.
#pragma once

#include <cmath>

#include "kernels/common/backend.hpp"
#include "kernels/modes.hpp"

namespace zhalo::kernels {

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
    return is_outside ? static_cast<T>(what.lo) : at;
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
