// In place of kernels/cuda where there is no CUDA toolkit: see no_cuda.cpp.
#include "kernels/kernels.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

template <class E, class T>
void multiply_modes(const E&, const ModesView<T>&, const AxisTables&) {
  refuse();
}
template <class E, class T>
void multiply_modes_by_i(const E&, const ModesView<T>&, const AxisTables&) {
  refuse();
}
template <class E, class T>
void divide_modes_by_minus(const E&, const ModesView<T>&, const AxisTables&) {
  refuse();
}
template <class E, class T>
void smooth_modes_top_hat(const E&, const ModesView<T>&, const AxisTables&) {
  refuse();
}
template <class E, class T>
void scale_modes(const E&, const ModesView<T>&, double) {
  refuse();
}
template <class E, class T>
void add_modes(const E&, const ModesView<T>&, Span<const T>, double) {
  refuse();
}
template <class E, class T>
void average_turned_modes(const E&, const ModesView<T>&, Span<const T>, const PhaseTables&) {
  refuse();
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#define ZHALO_REAL float
#include "kernels/common/instantiate_modes.inl.hpp"
#define ZHALO_REAL double
#include "kernels/common/instantiate_modes.inl.hpp"
