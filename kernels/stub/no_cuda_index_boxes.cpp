// In place of kernels/cuda where there is no CUDA toolkit: see no_cuda.cpp.
#include "kernels/kernels.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

template <class E>
void copy_boxes(const E&, const BoxMoves&, const ElementArrays&) {
  refuse();
}
template <class E, class T>
void add_boxes(const E&, const BoxMoves&, const T*, T*) {
  refuse();
}
template <class E>
void zero_boxes(const E&, const BoxMoves&, void*, Index) {
  refuse();
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_index_boxes.inl.hpp"
