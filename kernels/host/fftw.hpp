/// FFTW for one or the other precision.
#pragma once

#include <fftw3.h>

#include <mutex>
#include <utility>

#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

/// Lines of `num` complex numbers (or cells), `stride` apart, `many` of them, `distance` from one
/// to the next.
struct LinesShape {
  int num = 1;
  int many = 1;
  int stride = 1;
  int distance = 0;
};

template <class Real>
struct Fftw;

template <>
struct Fftw<double> {
  using Complex = fftw_complex;
  using Plan = fftw_plan;
  static Plan plan_real_to_complex(int num, double* in, Complex* out, unsigned flags) {
    return fftw_plan_dft_r2c_1d(num, in, out, flags);
  }
  static Plan plan_complex_to_real(int num, Complex* in, double* out, unsigned flags) {
    return fftw_plan_dft_c2r_1d(num, in, out, flags);
  }
  static Plan plan_complex(const LinesShape& lines, std::pair<Complex*, Complex*> in_out, int sign,
                           unsigned flags) {
    return fftw_plan_many_dft(1, &lines.num, lines.many, in_out.first, nullptr, lines.stride,
                              lines.distance, in_out.second, nullptr, lines.stride, lines.distance,
                              sign, flags);
  }
  static void run(Plan plan, double* in, Complex* out) { fftw_execute_dft_r2c(plan, in, out); }
  static void run(Plan plan, Complex* in, double* out) { fftw_execute_dft_c2r(plan, in, out); }
  static void run(Plan plan, Complex* in, Complex* out) { fftw_execute_dft(plan, in, out); }
  static bool is_aligned(const void* data) {
    return fftw_alignment_of(static_cast<double*>(const_cast<void*>(data))) == 0;
  }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
};

template <>
struct Fftw<float> {
  using Complex = fftwf_complex;
  using Plan = fftwf_plan;
  static Plan plan_real_to_complex(int num, float* in, Complex* out, unsigned flags) {
    return fftwf_plan_dft_r2c_1d(num, in, out, flags);
  }
  static Plan plan_complex_to_real(int num, Complex* in, float* out, unsigned flags) {
    return fftwf_plan_dft_c2r_1d(num, in, out, flags);
  }
  static Plan plan_complex(const LinesShape& lines, std::pair<Complex*, Complex*> in_out, int sign,
                           unsigned flags) {
    return fftwf_plan_many_dft(1, &lines.num, lines.many, in_out.first, nullptr, lines.stride,
                               lines.distance, in_out.second, nullptr, lines.stride, lines.distance,
                               sign, flags);
  }
  static void run(Plan plan, float* in, Complex* out) { fftwf_execute_dft_r2c(plan, in, out); }
  static void run(Plan plan, Complex* in, float* out) { fftwf_execute_dft_c2r(plan, in, out); }
  static void run(Plan plan, Complex* in, Complex* out) { fftwf_execute_dft(plan, in, out); }
  static bool is_aligned(const void* data) {
    return fftwf_alignment_of(static_cast<float*>(const_cast<void*>(data))) == 0;
  }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
};

/// FFTW plans share tables: one thread at a time may plan. What it measured it remembers for the
/// life of the process.
inline std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

/// Owns a plan; may be executed by many threads at once.
template <class Real>
class FftwPlan {
 public:
  FftwPlan() = default;
  explicit FftwPlan(typename Fftw<Real>::Plan plan) : plan_(plan) {
    if (plan_ == nullptr)
      throw Error(
          "FFTW made no plan for a line of the grid; is it a library that stands in for FFTW?");
  }
  FftwPlan(FftwPlan&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}
  FftwPlan& operator=(FftwPlan&& other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
  }
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  ~FftwPlan() {
    if (plan_ == nullptr) return;  // also while this thread plans
    const std::lock_guard lock(fftw_planner());
    Fftw<Real>::destroy(plan_);
  }

  explicit operator bool() const { return plan_ != nullptr; }
  template <class In, class Out>
  void run(In* in, Out* out) const {
    Fftw<Real>::run(plan_, in, out);
  }

 private:
  typename Fftw<Real>::Plan plan_ = nullptr;
};

}  // namespace zhalo::kernels
