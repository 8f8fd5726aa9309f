/// Copies that go around the cache.
#pragma once

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

/// Writes factor * from to `to`, past the cache: for what will not be in it anyway when it is read again. Call finish_streaming() on the
/// same thread before others read. The compiler's baseline vectors do: the memory is the limit.
template <class Real>
void stream_scaled(Real* to, const Real* from, Index num, Real factor) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<Real> tag;
  const auto lanes = static_cast<Index>(hn::Lanes(tag));
  const std::uintptr_t vector_bytes = sizeof(Real) * static_cast<std::uintptr_t>(lanes);
  Index i = 0;
  for (; i < num && reinterpret_cast<std::uintptr_t>(to + i) % vector_bytes != 0; ++i) to[i] = factor * from[i];
  const auto factors = hn::Set(tag, factor);
  for (; i + lanes <= num; i += lanes) hn::Stream(hn::Mul(factors, hn::LoadU(tag, from + i)), tag, to + i);
  for (; i < num; ++i) to[i] = factor * from[i];
}

inline void finish_streaming() { hwy::FlushStream(); }

/// The same through the cache.
template <class Real>
void copy_scaled(Real* to, const Real* from, Index num, Real factor) {
  if (factor == Real{1}) {
    std::memcpy(to, from, static_cast<std::size_t>(num) * sizeof(Real));
    return;
  }
  for (Index i = 0; i < num; ++i) to[i] = factor * from[i];
}

}  // namespace zhalo::kernels
