// In place of kernels/cuda where there is no CUDA toolkit: see no_cuda.cpp.
#include "kernels/kernels.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

template <class E, class T>
void multiply(const E&, Span<const T>, Span<const T>, Span<T>) {
  refuse();
}
template <class E, class T>
void add_product(const E&, Span<const T>, Span<const T>, T, Span<T>) {
  refuse();
}
template <class E, class T>
void add_values(const E&, Span<const T>, Span<T>) {
  refuse();
}
template <class E, class T>
void displace_axis(const E&, const DisplacedAxis<T>&) {
  refuse();
}
template <class E>
void number_cells(const E&, const CellBlock&, const Vec<Index, 3>&, Span<std::uint64_t>) {
  refuse();
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_lpt.inl.hpp"
