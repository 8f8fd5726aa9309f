/// Lines of Fourier transforms on the host: FFTW's plans for them, and how they are copied.
#pragma once

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "zhalo/core/error.hpp"
#include "zhalo/core/types.hpp"

// Of FFTW's libraries with threads, if the program is linked with one. zhalo is not. Before 3.3.9
// FFTW has not all of them.
extern "C" {
int fftw_planner_nthreads();
int fftwf_planner_nthreads();
}
#pragma weak fftw_planner_nthreads
#pragma weak fftw_plan_with_nthreads
#pragma weak fftwf_planner_nthreads
#pragma weak fftwf_plan_with_nthreads

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

/// FFTW names the functions of each precision by a prefix. export_wisdom() returns what it has
/// measured, to be freed; null if there is nothing that can be told.
// NOLINTBEGIN(bugprone-macro-parentheses): names and types, which take none
#define ZHALO_FFTW(Real, prefix)                                                                   \
  template <>                                                                                      \
  struct Fftw<Real> {                                                                              \
    using Complex = prefix##complex;                                                               \
    using Plan = prefix##plan;                                                                     \
    static Plan plan_real_to_complex(int num, Real* in, Complex* out, unsigned flags) {            \
      return prefix##plan_dft_r2c_1d(num, in, out, flags);                                         \
    }                                                                                              \
    static Plan plan_complex_to_real(int num, Complex* in, Real* out, unsigned flags) {            \
      return prefix##plan_dft_c2r_1d(num, in, out, flags);                                         \
    }                                                                                              \
    static Plan plan_complex(const LinesShape& lines, std::pair<Complex*, Complex*> in_out,        \
                             int sign, unsigned flags) {                                           \
      return prefix##plan_many_dft(1, &lines.num, lines.many, in_out.first, nullptr, lines.stride, \
                                   lines.distance, in_out.second, nullptr, lines.stride,           \
                                   lines.distance, sign, flags);                                   \
    }                                                                                              \
    static void run(Plan plan, Real* in, Complex* out) { prefix##execute_dft_r2c(plan, in, out); } \
    static void run(Plan plan, Complex* in, Real* out) { prefix##execute_dft_c2r(plan, in, out); } \
    static void run(Plan plan, Complex* in, Complex* out) { prefix##execute_dft(plan, in, out); }  \
    static bool is_aligned(const void* data) {                                                     \
      return prefix##alignment_of(static_cast<Real*>(const_cast<void*>(data))) == 0;               \
    }                                                                                              \
    static void destroy(Plan plan) { prefix##destroy_plan(plan); }                                 \
    static char* export_wisdom() { return prefix##export_wisdom_to_string(); }                     \
    static void forget_wisdom() { prefix##forget_wisdom(); }                                       \
    static void import_wisdom(const char* wisdom) { prefix##import_wisdom_from_string(wisdom); }   \
    static bool has_threads() {                                                                    \
      return prefix##planner_nthreads != nullptr && prefix##plan_with_nthreads != nullptr;         \
    }                                                                                              \
    static int num_threads() { return prefix##planner_nthreads(); }                                \
    static void set_num_threads(int num) { prefix##plan_with_nthreads(num); }                      \
  }
// NOLINTEND(bugprone-macro-parentheses)
ZHALO_FFTW(double, fftw_);
ZHALO_FFTW(float, fftwf_);
#undef ZHALO_FFTW

/// FFTW plans share tables: one thread at a time may plan. What it measured it remembers for the
/// life of the process.
inline std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

/// While it lives, FFTW plans as if it had measured nothing: with FFTW_ESTIMATE it would take plans
/// that were measured before, which differ from run to run. What it learns meanwhile it forgets. To
/// be held under the planner's lock. This takes 0.3 ms, more than to plan short lines: FFTW writes
/// its wisdom with a checksum of all that it can do.
template <class Real>
class WithoutWisdom {
 public:
  WithoutWisdom() : wisdom_(Fftw<Real>::export_wisdom(), &std::free) {
    Fftw<Real>::forget_wisdom();
  }
  WithoutWisdom(const WithoutWisdom&) = delete;
  WithoutWisdom& operator=(const WithoutWisdom&) = delete;
  ~WithoutWisdom() {
    Fftw<Real>::forget_wisdom();
    // The text is a list with a list for each thing that was measured.
    const std::string_view wisdom = wisdom_ ? wisdom_.get() : "";
    if (std::count(wisdom.begin(), wisdom.end(), '(') > 1) Fftw<Real>::import_wisdom(wisdom_.get());
  }

 private:
  std::unique_ptr<char, decltype(&std::free)> wisdom_;
};

/// While it lives, plans are for one thread each, also if the caller's code lets FFTW plan for
/// several: zhalo's threads each run their own. To be held under the planner's lock.
template <class Real>
class PlansOfOneThread {
 public:
  PlansOfOneThread() {
    if (Fftw<Real>::has_threads()) callers_ = Fftw<Real>::num_threads();
    // Else FFTW may not have been told of threads, and would forget all plans to begin with them.
    if (callers_ > 1) Fftw<Real>::set_num_threads(1);
  }
  PlansOfOneThread(const PlansOfOneThread&) = delete;
  PlansOfOneThread& operator=(const PlansOfOneThread&) = delete;
  ~PlansOfOneThread() {
    if (callers_ > 1) Fftw<Real>::set_num_threads(callers_);
  }

 private:
  int callers_ = 1;
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

inline constexpr Index cache_line = 64;

// Past the cache.

/// factor * from through the cache.
template <class Real>
void copy_scaled(Real* to, const Real* from, Index num, Real factor) {
  if (factor == Real{1}) {
    std::memcpy(to, from, static_cast<std::size_t>(num) * sizeof(Real));
    return;
  }
  for (Index i = 0; i < num; ++i) to[i] = factor * from[i];
}

#if defined(__SSE2__)

/// A whole cache line, past the cache.
inline void stream_line(double* to, const double* from, double factor) {
  const __m128d factors = _mm_set1_pd(factor);
  for (int i = 0; i < 8; i += 2) _mm_stream_pd(to + i, _mm_mul_pd(factors, _mm_loadu_pd(from + i)));
}
inline void stream_line(float* to, const float* from, float factor) {
  const __m128 factors = _mm_set1_ps(factor);
  for (int i = 0; i < 16; i += 4)
    _mm_stream_ps(to + i, _mm_mul_ps(factors, _mm_loadu_ps(from + i)));
}

/// Writes factor * from to `to`, past the cache: for what will not be in it anyway when it is read
/// again. Call finish_streaming() on the same thread before others read. Vectors of every x86-64
/// do: the memory is the limit. Only whole cache lines go past the cache; a part of a line would
/// cost the memory as much as several.
template <class Real>
void stream_scaled(Real* to, const Real* from, Index num, Real factor) {
  constexpr Index per_line = cache_line / static_cast<Index>(sizeof(Real));
  const auto into_line = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to) % cache_line) /
                         static_cast<Index>(sizeof(Real));
  Index i = std::min((per_line - into_line) % per_line, num);
  copy_scaled(to, from, i, factor);
  for (; i + per_line <= num; i += per_line) stream_line(to + i, from + i, factor);
  copy_scaled(to + i, from + i, num - i, factor);
}

inline void finish_streaming() { _mm_sfence(); }

#else

template <class Real>
void stream_scaled(Real* to, const Real* from, Index num, Real factor) {
  copy_scaled(to, from, num, factor);
}
inline void finish_streaming() {}

#endif

// Rows and columns.

/// Lines of cells, `pitch` cells from one to the next.
template <class Real>
struct Lines {
  std::complex<Real>* data;
  Index pitch;

  std::complex<Real>* operator[](Index line) const { return data + line * pitch; }
};

/// to[j][i] = from[i][j] for the first two cells of two lines.
template <class Real>
void transpose_four(const Lines<Real>& from, const Lines<Real>& to) {
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) to[j][i] = from[i][j];
  }
}

#if defined(__SSE2__)
/// Two cells in a register.
template <>
inline void transpose_four(const Lines<float>& from, const Lines<float>& to) {
  const __m128d low = _mm_loadu_pd(reinterpret_cast<const double*>(from[0]));
  const __m128d high = _mm_loadu_pd(reinterpret_cast<const double*>(from[1]));
  _mm_storeu_pd(reinterpret_cast<double*>(to[0]), _mm_unpacklo_pd(low, high));
  _mm_storeu_pd(reinterpret_cast<double*>(to[1]), _mm_unpackhi_pd(low, high));
}
#endif

/// columns[j][i] = rows[i][j] for an even number of columns.
template <Index num_columns, class Real>
void take_columns(const Lines<Real>& rows, Index num_rows, const Lines<Real>& columns) {
  static_assert(num_columns % 2 == 0);
  for (Index i = 0; i + 2 <= num_rows; i += 2) {
    for (Index j = 0; j < num_columns; j += 2)
      transpose_four<Real>({rows[i] + j, rows.pitch}, {columns[j] + i, columns.pitch});
  }
  if (num_rows % 2 == 0) return;
  for (Index j = 0; j < num_columns; ++j) columns[j][num_rows - 1] = rows[num_rows - 1][j];
}

/// rows[i][j] = columns[j][i] for an even number of columns.
template <Index num_columns, class Real>
void put_columns(const Lines<Real>& columns, const Lines<Real>& rows, Index num_rows) {
  static_assert(num_columns % 2 == 0);
  for (Index i = 0; i + 2 <= num_rows; i += 2) {
    for (Index j = 0; j < num_columns; j += 2)
      transpose_four<Real>({columns[j] + i, columns.pitch}, {rows[i] + j, rows.pitch});
  }
  if (num_rows % 2 == 0) return;
  for (Index j = 0; j < num_columns; ++j) rows[num_rows - 1][j] = columns[j][num_rows - 1];
}

}  // namespace zhalo::kernels
