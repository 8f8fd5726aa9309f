/// How the lines of a Fourier transform are copied: past the cache, and from rows to columns.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

#include "zhalo/core/types.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace zhalo::kernels {

inline constexpr Index cache_line = 64;

// ---------------------------------------------------------------- past the cache

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

// ---------------------------------------------------------------- rows and columns

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
