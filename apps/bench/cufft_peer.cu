#include <cufft.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

#include "apps/bench/cufft_peer.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::bench {
namespace {

void check(cufftResult result, const char* call) {
  if (result == CUFFT_SUCCESS) return;
  const std::string what =
      std::string(call) + " failed with code " + std::to_string(static_cast<int>(result));
  if (result == CUFFT_ALLOC_FAILED) throw OutOfMemory(what);
  throw DeviceError(what);
}

/// A plan of a cube whose work area is given to it. Rows are `in_row` and `out_row` apart, in
/// elements of their kinds.
class Plan {
 public:
  Plan(const Cuda& exec, Index num, cufftType type, long long in_row, long long out_row) {
    check(cufftCreate(&handle_), "cufftCreate");
    const long long n = num;
    long long length[3] = {n, n, n};
    long long in_embed[3] = {n, n, in_row};
    long long out_embed[3] = {n, n, out_row};
    check(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
    check(cufftMakePlanMany64(handle_, 3, length, in_embed, 1, n * n * in_row, out_embed, 1,
                              n * n * out_row, type, 1, &work_bytes_),
          "cufftMakePlanMany64");
    check(cufftSetStream(handle_, exec.stream), "cufftSetStream");
  }
  ~Plan() { cufftDestroy(handle_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  cufftHandle handle() const { return handle_; }
  std::size_t work_bytes() const { return work_bytes_; }

 private:
  cufftHandle handle_{};
  std::size_t work_bytes_ = 0;
};

void run_forward(cufftHandle plan, float* field) {
  check(cufftExecR2C(plan, field, reinterpret_cast<cufftComplex*>(field)), "cufftExecR2C");
}
void run_forward(cufftHandle plan, double* field) {
  check(cufftExecD2Z(plan, field, reinterpret_cast<cufftDoubleComplex*>(field)), "cufftExecD2Z");
}
void run_backward(cufftHandle plan, float* field) {
  check(cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(field), field), "cufftExecC2R");
}
void run_backward(cufftHandle plan, double* field) {
  check(cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(field), field), "cufftExecZ2D");
}

const Cuda& device_of(const Exec& exec) {
  if (!std::holds_alternative<Cuda>(exec)) throw InputError("cuFFT runs on devices only");
  return std::get<Cuda>(exec);
}

}  // namespace

template <class T>
struct CufftCube<T>::Plans {
  static constexpr bool is_float = std::is_same_v<T, float>;

  Plans(const Exec& exec, Index num)
      : forward(device_of(exec), num, is_float ? CUFFT_R2C : CUFFT_D2Z, 2 * (num / 2 + 1),
                num / 2 + 1),
        backward(device_of(exec), num, is_float ? CUFFT_C2R : CUFFT_Z2D, num / 2 + 1,
                 2 * (num / 2 + 1)),
        work(exec,
             static_cast<Index>(
                 std::max({forward.work_bytes(), backward.work_bytes(), std::size_t{1}})),
             "work area of cuFFT") {
    check(cufftSetWorkArea(forward.handle(), work.data()), "cufftSetWorkArea");
    check(cufftSetWorkArea(backward.handle(), work.data()), "cufftSetWorkArea");
  }

  Plan forward;
  Plan backward;
  Buffer<std::byte> work;
};

template <class T>
CufftCube<T>::CufftCube(const Exec& exec, Index num)
    : num_(num), plans_(std::make_unique<Plans>(exec, num)) {}
template <class T>
CufftCube<T>::~CufftCube() = default;

template <class T>
Index CufftCube<T>::workspace_bytes() const {
  return plans_->work.size();
}

template <class T>
void CufftCube<T>::forward(T* field) {
  run_forward(plans_->forward.handle(), field);
}
template <class T>
void CufftCube<T>::backward(T* field) {
  run_backward(plans_->backward.handle(), field);
}

template class CufftCube<float>;
template class CufftCube<double>;

}  // namespace zhalo::bench
