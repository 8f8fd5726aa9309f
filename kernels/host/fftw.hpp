/// FFTW for one or the other precision.
#pragma once

#include <fftw3.h>

#include <cstdlib>
#include <memory>
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
  /// What it has measured, to be freed; null if there is nothing that can be told.
  static char* export_wisdom() { return fftw_export_wisdom_to_string(); }
  static void forget_wisdom() { fftw_forget_wisdom(); }
  static void import_wisdom(const char* wisdom) { fftw_import_wisdom_from_string(wisdom); }
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
  /// What it has measured, to be freed; null if there is nothing that can be told.
  static char* export_wisdom() { return fftwf_export_wisdom_to_string(); }
  static void forget_wisdom() { fftwf_forget_wisdom(); }
  static void import_wisdom(const char* wisdom) { fftwf_import_wisdom_from_string(wisdom); }
};

/// FFTW plans share tables: one thread at a time may plan. What it measured it remembers for the
/// life of the process.
inline std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

/// While it lives, FFTW plans as if it had measured nothing: with FFTW_ESTIMATE it would take plans
/// that were measured before, which differ from run to run. To be held under the planner's lock.
template <class Real>
class WithoutWisdom {
 public:
  WithoutWisdom() : wisdom_(Fftw<Real>::export_wisdom(), &std::free) {
    Fftw<Real>::forget_wisdom();
  }
  WithoutWisdom(const WithoutWisdom&) = delete;
  WithoutWisdom& operator=(const WithoutWisdom&) = delete;
  ~WithoutWisdom() {
    if (wisdom_) Fftw<Real>::import_wisdom(wisdom_.get());
  }

 private:
  std::unique_ptr<char, decltype(&std::free)> wisdom_;
};

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
