/// Copies that go around the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "zhalo/core/types.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace zhalo::kernels {

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

inline constexpr Index bytes_of_line = 64;

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
  constexpr Index per_line = bytes_of_line / static_cast<Index>(sizeof(Real));
  const auto into_line = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to) % bytes_of_line) /
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

}  // namespace zhalo::kernels
