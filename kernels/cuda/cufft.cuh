/// cuFFT's plans and calls.
#pragma once

#include <cufft.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "kernels/cuda/launch.cuh"
#include "zhalo/core/error.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// cuFFT makes no such plan.
class RefusedPlan : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

inline void check_cufft(cufftResult result, const char* call) {
  if (result == CUFFT_SUCCESS) return;
  if (result == CUFFT_ALLOC_FAILED)
    throw OutOfMemory(std::string("out of CUDA device memory in ") + call + "; use more devices");
  const std::string text = std::string("cuFFT failed with code ") +
                           std::to_string(static_cast<int>(result)) + " in " + call;
  if (result == CUFFT_INVALID_SIZE || result == CUFFT_NOT_SUPPORTED) throw RefusedPlan(text);
  throw DeviceError(text);
}

template <class Real>
struct ComplexPair {
  Real re;
  Real im;

  __device__ friend ComplexPair operator*(Real factor, const ComplexPair& number) {
    return {factor * number.re, factor * number.im};
  }
};

/// cuFFT wants complex numbers aligned as a whole, 8 or 16 bytes, and reals like them: what a
/// caller has may be aligned as reals.
template <class Real>
bool is_aligned_for_cufft(const void* numbers) {
  return reinterpret_cast<std::uintptr_t>(numbers) % sizeof(ComplexPair<Real>) == 0;
}

/// Where a line, and what follows it, is.
struct CufftStrides {
  Index stride = 1;    ///< in a line
  Index row = 0;       ///< from line to line of a plane, for transforms in more dimensions
  Index distance = 0;  ///< from line to line, from plane to plane, or from grid to grid
};

/// Lines of a call of cuFFT; or planes of such lines, in two dimensions; or grids of such planes,
/// in three.
struct CufftLines {
  cufftType type = CUFFT_Z2Z;
  Index length = 0;
  CufftStrides in;
  CufftStrides out;
  Index num = 0;
  Index num_rows = 0;    ///< of a plane; 0: in one dimension
  Index num_planes = 0;  ///< of a grid, one behind the other; 0: in fewer dimensions

  friend bool operator<(const CufftLines& a, const CufftLines& b) {
    const auto strides = [](const CufftStrides& p) {
      return std::tie(p.stride, p.row, p.distance);
    };
    const auto all = [&](const CufftLines& l) {
      return std::tuple(l.type, l.length, l.num, l.num_rows, l.num_planes, strides(l.in),
                        strides(l.out));
    };
    return all(a) < all(b);
  }
};

/// A plan of cuFFT's whose work area is given to it.
class CufftPlan {
 public:
  CufftPlan(const Cuda& exec, const CufftLines& lines) : device_(exec.device) {
    const DeviceScope scope(device_);
    check_cufft(cufftCreate(&handle_), "cufftCreate");
    const int rank = lines.num_planes > 0 ? 3 : lines.num_rows > 0 ? 2 : 1;
    long long length[] = {lines.num_planes, lines.num_rows, lines.length};
    const auto embed = [&](Index row) { return rank > 1 ? row : lines.length; };
    long long in_embed[] = {lines.num_planes, lines.num_rows, embed(lines.in.row)};
    long long out_embed[] = {lines.num_planes, lines.num_rows, embed(lines.out.row)};
    const int skip = 3 - rank;
    const auto make = [&] {
      check_cufft(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
      check_cufft(
          cufftMakePlanMany64(handle_, rank, length + skip, in_embed + skip, lines.in.stride,
                              lines.in.distance, out_embed + skip, lines.out.stride,
                              lines.out.distance, lines.type, lines.num, &work_bytes_),
          "cufftMakePlanMany64");
      check_cufft(cufftSetStream(handle_, exec.stream), "cufftSetStream");
    };
    try {
      make();
    } catch (...) {
      cufftDestroy(handle_);
      throw;
    }
  }
  /// It must end on its own device: another one that is current would be started, and asked for
  /// what it does not have.
  ~CufftPlan() {
    try {
      const DeviceScope scope(device_);
      cufftDestroy(handle_);
    } catch (const Error&) {
      static_cast<void>(cudaGetLastError());  // the driver has shut down, and the plan with it
    }
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  std::size_t work_bytes() const { return work_bytes_; }
  cufftHandle with_work_area(void* area) const {
    check_cufft(cufftSetWorkArea(handle_, area), "cufftSetWorkArea");
    return handle_;
  }

 private:
  int device_ = 0;
  cufftHandle handle_ = 0;
  std::size_t work_bytes_ = 0;
};

/// The plans of a context, which live as long as its memory: to make one takes milliseconds and
/// memory of the device. Beyond max_plans the oldest is forgotten.
class KeptPlans {
 public:
  std::shared_ptr<const CufftPlan> get(const Cuda& exec, const CufftLines& lines) {
    const auto found = plans_.find(lines);
    if (found != plans_.end()) return found->second;
    const auto made = make(exec, lines);
    if (order_.size() == max_plans) {
      plans_.erase(order_.front());
      order_.pop_front();
    }
    plans_.emplace(lines, made);
    order_.push_back(lines);
    return made;
  }

 private:
  /// cuFFT takes memory beside the pool, which may hold all that is left. It does not always say
  /// that this was missing.
  static std::shared_ptr<const CufftPlan> make(const Cuda& exec, const CufftLines& lines) {
    try {
      return std::make_shared<const CufftPlan>(exec, lines);
    } catch (const Error&) {
      exec.pool->release_unused();
      return std::make_shared<const CufftPlan>(exec, lines);
    }
  }

  static constexpr std::size_t max_plans = 64;
  std::map<CufftLines, std::shared_ptr<const CufftPlan>> plans_;
  std::deque<CufftLines> order_;
};

inline void execute(cufftHandle plan, float* in, ComplexPair<float>* out) {
  check_cufft(cufftExecR2C(plan, in, reinterpret_cast<cufftComplex*>(out)), "cufftExecR2C");
}
inline void execute(cufftHandle plan, double* in, ComplexPair<double>* out) {
  check_cufft(cufftExecD2Z(plan, in, reinterpret_cast<cufftDoubleComplex*>(out)), "cufftExecD2Z");
}
inline void execute(cufftHandle plan, ComplexPair<float>* in, float* out) {
  check_cufft(cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(in), out), "cufftExecC2R");
}
inline void execute(cufftHandle plan, ComplexPair<double>* in, double* out) {
  check_cufft(cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex*>(in), out), "cufftExecZ2D");
}
inline void execute(cufftHandle plan, ComplexPair<float>* in, ComplexPair<float>* out, int sign) {
  check_cufft(cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in),
                           reinterpret_cast<cufftComplex*>(out), sign),
              "cufftExecC2C");
}
inline void execute(cufftHandle plan, ComplexPair<double>* in, ComplexPair<double>* out, int sign) {
  check_cufft(cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(in),
                           reinterpret_cast<cufftDoubleComplex*>(out), sign),
              "cufftExecZ2Z");
}

}  // namespace zhalo::kernels
