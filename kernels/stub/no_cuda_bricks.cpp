// In place of kernels/cuda where there is no CUDA toolkit: see no_cuda.cpp.
#include "kernels/kernels.hpp"
#include "kernels/stub/refuse.hpp"

namespace zhalo::kernels {

template <class E>
void copy_bricks(const E&, const BrickMoves&, const WordArrays&) {
  refuse();
}
template <class E, class T>
void add_bricks(const E&, const BrickMoves&, const T*, T*) {
  refuse();
}
template <class E>
void zero_bricks(const E&, const BrickMoves&, void*, Index) {
  refuse();
}

}  // namespace zhalo::kernels

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_bricks.inl.hpp"
