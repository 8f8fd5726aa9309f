// In place of cufft_peer.cu where zhalo is built without CUDA.
#include "apps/bench/cufft_peer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::bench {

template <class T>
struct CufftCube<T>::Plans {};

template <class T>
CufftCube<T>::CufftCube(const Exec& /*exec*/, Index num) : num_(num) {
  throw InputError("cuFFT is missing: this program is built without CUDA");
}
template <class T>
CufftCube<T>::~CufftCube() = default;
template <class T>
Index CufftCube<T>::workspace_bytes() const {
  return 0;
}
template <class T>
void CufftCube<T>::forward(T* /*field*/) {}
template <class T>
void CufftCube<T>::backward(T* /*field*/) {}

template class CufftCube<float>;
template class CufftCube<double>;

}  // namespace zhalo::bench
