/// Lanes: how one text of a hot loop runs on a vector register, a warp, and a thread per lane.
///
/// A type of Lanes has `size` lanes (1 to 32; no text may assume one). A `Lane` is one Real per
/// lane; everything else is uniform: the same in all lanes. A comparison of Lane values gives a
/// `Mask`, which `ballot` turns into an integer with one bit per lane.
///
///   static constexpr int size;  using real, Lane, Mask;
///   Lane load(const Real* p)       lane i gets p[i]; `size` elements must be readable
///   Lane load_or(const Real* p, Index n, Real v)
///                                  lane i gets i < n ? p[i] : v
///   Lane broadcast(Real v)
///   void store(Lane v, Real* to)   lane i writes to[i]; `size` elements are written
///   Lane select(Mask m, Lane a, Lane b), select(uint64 bits, Lane a, Lane b)
///                                  lane i gets a where its mask or bit is set, else b
///   Lane broadcast_index(LocalIndex i), static LocalIndex index_in(Real v)
///                                  an index in the bits of a Real: only to be moved and selected
///   uint64 ballot(Mask m)          bit i = lane i; needs all lanes
///   bool any(bool b)               true in all lanes if true in one; needs all lanes
///   Real element(Lane v, const Real* p, int i)
///                                  p[i], where v = load(p); needs all lanes
///   static constexpr bool keeps_elements
///                                  i must be below `size` there; else it may be any
///   uint64 filter(uint64 bits, f)  those of the bits i for which f(i) is true, each asked in lane
///                                  i; needs all lanes, but f has no collectives
///   uint64 any_of(const Mask (&m)[n])
///                                  bit u is set if m[u] is true in a lane; n <= 32; needs all
///                                  lanes
///   void compress(uint64 bits, Lane v, Real* to)
///                                  the lanes whose bit is set, one behind the other, to shared
///                                  memory
///   void compress_indices(uint64 bits, LocalIndex first, LocalIndex* to)
///                                  the same for first + lane
///   Real reduce_min(Lane v), reduce_max(Lane v)
///                                  needs all lanes
///   void move(const T* from, Index n, T* to)
///                                  moves n elements, to the same or a higher address; memory of
///                                  one warp, in order
///   void one(f)                    f() in a single lane
///   void for_each_lane(Index n, f) f(i) for i in [0, n), shared out to the lanes
///   void for_few(Index n, f)       the same where lanes have a turn or two
///   void for_each_in_rows(int rows, int columns, f)
///                                  f(row, column) for all of them, shared out to the lanes
///   void for_each_bit(uint64 bits, f)
///                                  f(i) for each bit that is set, shared out to the lanes
///   void sync()                    orders shared memory between lanes
///   static Lane abs(a), min(a, b), max(a, b), fma(a, b, c) = a * b + c, rounded once;
///   operators - * <=
///
/// SimdLanes and WarpLanes stand beside this file, EmulatedLanes in tests/lanes.
#pragma once

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"

/// Texts that use Lanes are files *.inl.hpp, which have no include guard on purpose: they are
/// compiled once for each vector target on the host. ZHALO_LANES_NAMESPACE is the namespace of each
/// compilation, in which LanesOf<Real> are its Lanes; ZHALO_LANES_BEGIN and ZHALO_LANES_END enclose
/// the text. On a device the functions in it are those that kernels/<family>.hpp declares,
/// instantiated at its foot; a host takes the best vector target at run time.
#if defined(__CUDACC__)
#define ZHALO_LANES_NAMESPACE zhalo::kernels
#define ZHALO_LANES_BEGIN
#define ZHALO_LANES_END
#define ZHALO_INSTANTIATE_LANES(name) ZHALO_INSTANTIATE_REALS(name)
#elif defined(ZHALO_EMULATED_LANES)
#define ZHALO_LANES_NAMESPACE zhalo::kernels::emulated
#define ZHALO_LANES_BEGIN
#define ZHALO_LANES_END
#define ZHALO_INSTANTIATE_LANES(name) static_assert(true)
#else
#define ZHALO_LANES_NAMESPACE zhalo::kernels::HWY_NAMESPACE
#define ZHALO_LANES_BEGIN HWY_BEFORE_NAMESPACE();
#define ZHALO_LANES_END HWY_AFTER_NAMESPACE();
#define ZHALO_INSTANTIATE_LANES(name) static_assert(true)
#endif

/// Before small functions that take lanes. Where lanes are vectors, a call would pass them through
/// memory.
#if defined(__CUDACC__)
#define ZHALO_LANES_INLINE
#else
#define ZHALO_LANES_INLINE [[gnu::always_inline]]
#endif

/// Before functions that are seldom called. Compiled apart, they leave compilers more room to
/// inline the others.
#if defined(__CUDACC__)
#define ZHALO_LANES_APART
#else
#define ZHALO_LANES_APART [[gnu::noinline]]
#endif
