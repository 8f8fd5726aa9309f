// Like mass_assignment_blocks.cpp compiled for every vector target.
#include "kernels/host/positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/chunk.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Words64 = hn::RebindToUnsigned<Doubles>;
using DoubleVec = hn::Vec<Doubles>;
using WordVec = hn::Vec<Words64>;

/// Numbers as doubles, a vector of them.
HWY_INLINE DoubleVec load_doubles(const double* from) { return hn::LoadU(Doubles{}, from); }
HWY_INLINE DoubleVec load_doubles(const float* from) {
  return hn::PromoteTo(Doubles{}, hn::LoadU(hn::Rebind<float, Doubles>{}, from));
}
HWY_INLINE void store_doubles(DoubleVec values, double* to) { hn::StoreU(values, Doubles{}, to); }
HWY_INLINE void store_doubles(DoubleVec values, float* to) {
  const hn::Rebind<float, Doubles> floats;
  hn::StoreU(hn::DemoteTo(floats, values), floats, to);
}

/// Whole vectors of rows x, y, z, x, y, z, ...; returns how many rows.
template <class Real>
Index load_rows(const Real* from, const ChunkPart& to, PositionChunk<Real>& chunk) {
  const hn::CappedTag<Real, 16> reals;
  const auto step = static_cast<Index>(hn::Lanes(reals));
  Index done = 0;
  for (; done + step <= to.num; done += step) {
    hn::Vec<hn::CappedTag<Real, 16>> x, y, z;
    hn::LoadInterleaved3(reals, from + 3 * done, x, y, z);
    hn::StoreU(x, reals, chunk.axis[0] + to.first + done);
    hn::StoreU(y, reals, chunk.axis[1] + to.first + done);
    hn::StoreU(z, reals, chunk.axis[2] + to.first + done);
  }
  return done;
}

/// The smallest Real that is at least `bound`: numbers are below one if they are below the other.
template <class Real>
Real rounded_up(double bound) {
  const auto rounded = static_cast<Real>(bound);
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  return double{rounded} < bound ? std::nextafter(rounded, infinity) : rounded;
}

/// Wraps one axis, if any of its coordinates needs it.
template <class Real>
void wrap_axis(const KeyFrame& frame, int axis, Index num, Real* x) {
  if (!frame.box.periodic[axis]) return;
  const hn::CappedTag<Real, 16> reals;
  const auto lo = hn::Set(reals, rounded_up<Real>(frame.box.lo[axis]));
  const auto hi = hn::Set(reals, rounded_up<Real>(frame.box.lo[axis] + frame.box.length[axis]));
  const auto step = static_cast<Index>(hn::Lanes(reals));
  bool are_inside = true;
  Index i = 0;
  for (; i + step <= num; i += step) {
    const auto values = hn::Load(reals, x + i);
    are_inside &= hn::AllTrue(reals, hn::And(hn::Ge(values, lo), hn::Lt(values, hi)));
  }
  for (Index j = are_inside ? i : 0; j < num; ++j) x[j] = frame.wrapped(x[j], axis);
}

/// The scale may be beyond float although the product is not.
template <class Real>
void scale_axis(double scale, Index num, Real* x) {
  if (const auto factor = static_cast<Real>(scale); double{factor} == scale) {
    const hn::CappedTag<Real, 16> reals;
    const auto step = static_cast<Index>(hn::Lanes(reals));
    for (Index i = 0; i < num; i += step)
      hn::Store(hn::Mul(hn::Load(reals, x + i), hn::Set(reals, factor)), reals, x + i);
    return;
  }
  const Doubles doubles;
  const auto step = static_cast<Index>(hn::Lanes(doubles));
  for (Index i = 0; i < num; i += step)
    store_doubles(hn::Mul(load_doubles(x + i), hn::Set(doubles, scale)), x + i);
}

template <class Real>
void load(const ParticleRow<Real>& first, const ChunkPart& to, PositionChunk<Real>& chunk) {
  const Strided<Real>(&pos)[3] = first.segment.pos;
  const Index done = are_rows(pos) ? load_rows(&pos[0][first.row], to, chunk) : 0;
  for (int axis = 0; axis < 3 && pos[axis]; ++axis) {
    for (Index i = done; i < to.num; ++i) chunk.axis[axis][to.first + i] = pos[axis][first.row + i];
  }
}

template <class Real>
void frame_axes(const KeyFrame& frame, Index num, PositionChunk<Real>& chunk) {
  for (int axis = 0; axis < 3; ++axis) {
    Real* const x = chunk.axis[axis];
    if (axis >= frame.box.dimensions) {
      std::fill_n(x, PositionChunk<Real>::max_num, Real{0});
      continue;
    }
    wrap_axis(frame, axis, num, x);
    if (frame.scale != 1) scale_axis(frame.scale, num, x);
  }
}

HWY_INLINE WordVec and_with(WordVec x, std::uint64_t mask) {
  return hn::And(x, hn::Set(Words64{}, mask));
}

/// spread_by_3() and spread_by_2() of kernels/particles.hpp.
HWY_INLINE WordVec spread3(WordVec x) {
  x = and_with(hn::Or(x, hn::ShiftLeft<32>(x)), 0x001f00000000ffffU);
  x = and_with(hn::Or(x, hn::ShiftLeft<16>(x)), 0x001f0000ff0000ffU);
  x = and_with(hn::Or(x, hn::ShiftLeft<8>(x)), 0x100f00f00f00f00fU);
  x = and_with(hn::Or(x, hn::ShiftLeft<4>(x)), 0x10c30c30c30c30c3U);
  return and_with(hn::Or(x, hn::ShiftLeft<2>(x)), 0x1249249249249249U);
}
HWY_INLINE WordVec spread2(WordVec x) {
  x = and_with(hn::Or(x, hn::ShiftLeft<16>(x)), 0x0000ffff0000ffffU);
  x = and_with(hn::Or(x, hn::ShiftLeft<8>(x)), 0x00ff00ff00ff00ffU);
  x = and_with(hn::Or(x, hn::ShiftLeft<4>(x)), 0x0f0f0f0f0f0f0f0fU);
  x = and_with(hn::Or(x, hn::ShiftLeft<2>(x)), 0x3333333333333333U);
  return and_with(hn::Or(x, hn::ShiftLeft<1>(x)), 0x5555555555555555U);
}

/// How coordinates of one axis become numbers of cells, as in MakeKey.
class CellsOfAxis {
 public:
  CellsOfAxis(const KeyFrame& frame, int axis)
      : unscale_(1 / frame.scale),
        corner_(frame.corner[axis]),
        cells_per_length_(frame.cells_per_length),
        last_(static_cast<double>((std::uint64_t{1} << frame.bits_per_axis) - 1)) {}

  template <class Real>
  HWY_INLINE WordVec operator()(const Real* x) const {
    constexpr double two_to_52 = 4503599627370496.0;
    const Doubles doubles;
    const auto set = [&](double value) { return hn::Set(doubles, value); };
    const DoubleVec unscaled = hn::Mul(load_doubles(x), set(unscale_));
    const DoubleVec at = hn::Mul(hn::Sub(unscaled, set(corner_)), set(cells_per_length_));
    const DoubleVec cell =
        hn::IfThenElseZero(hn::Gt(at, hn::Zero(doubles)), hn::Floor(hn::Min(at, set(last_))));
    // The lowest bits of 2^52 + n are those of n.
    return and_with(hn::BitCast(Words64{}, hn::Add(cell, set(two_to_52))), 0xffffffffU);
  }

 private:
  double unscale_;
  double corner_;
  double cells_per_length_;
  double last_;
};

/// Keys of as many particles as a vector has.
template <class Real>
class KeysOf {
 public:
  static constexpr int max_step = 8;

  explicit KeysOf(const KeyFrame& frame)
      : x_(frame, 0), y_(frame, 1), z_(frame, 2), is_flat_(frame.box.dimensions == 2) {}

  HWY_INLINE void operator()(const Real* x, const Real* y, const Real* z,
                             std::uint64_t* keys) const {
    WordVec key;
    if (is_flat_) {
      key = hn::Or(hn::ShiftLeft<1>(spread2(x_(x))), spread2(y_(y)));
    } else {
      key = hn::Or(hn::Or(hn::ShiftLeft<2>(spread3(x_(x))), hn::ShiftLeft<1>(spread3(y_(y)))),
                   spread3(z_(z)));
    }
    hn::StoreU(key, Words64{}, keys);
  }

 private:
  CellsOfAxis x_, y_, z_;
  bool is_flat_;
};

/// What lies behind the end is not read: another thread may write it.
template <class Real>
void keys_of(const Real* const (&axis)[3], Index num, const KeyFrame& frame, std::uint64_t* keys) {
  const KeysOf<Real> keys_of_vector(frame);
  const auto step = static_cast<Index>(hn::Lanes(Words64{}));
  Index done = 0;
  for (; done + step <= num; done += step)
    keys_of_vector(axis[0] + done, axis[1] + done, axis[2] + done, keys + done);
  Real last[3][KeysOf<Real>::max_step] = {};
  std::uint64_t last_keys[KeysOf<Real>::max_step];
  for (int a = 0; a < 3; ++a) std::copy_n(axis[a] + done, num - done, last[a]);
  keys_of_vector(last[0], last[1], last[2], last_keys);
  std::copy_n(last_keys, num - done, keys + done);
}

template <class Real>
void records_to_chunk(const PositionRecord<Real>* records, Index num, PositionChunk<Real>& chunk) {
  static_assert(sizeof(PositionRecord<Real>) == 4 * sizeof(Real));
  const hn::CappedTag<Real, 16> reals;
  const auto step = static_cast<Index>(hn::Lanes(reals));
  Index done = 0;
  for (; done + step <= num; done += step) {
    hn::Vec<hn::CappedTag<Real, 16>> x, y, z, index;
    hn::LoadInterleaved4(reals, records[done].pos, x, y, z, index);
    hn::Store(x, reals, chunk.axis[0] + done);
    hn::Store(y, reals, chunk.axis[1] + done);
    hn::Store(z, reals, chunk.axis[2] + done);
  }
  for (; done < num; ++done)
    for (int axis = 0; axis < 3; ++axis) chunk.axis[axis][done] = records[done].pos[axis];
}

#if HWY_TARGET == HWY_SCALAR
template <class Real>
Index take_by_four(const PositionRecord<Real>*, Span<const std::uint64_t>, std::uint64_t,
                   const PositionColumns<Real>&) {
  return 0;
}
#else
/// Four records at a time become four numbers of each column. Returns how many records.
HWY_INLINE Index take_by_four(const PositionRecord<float>* records, Span<const std::uint64_t> words,
                              std::uint64_t mask, const PositionColumns<float>& to) {
  const hn::FixedTag<float, 4> four;
  const hn::RebindToUnsigned<hn::FixedTag<float, 4>> indices;
  const auto record = [&](Index i) { return hn::LoadU(four, records[words[i] & mask].pos); };
  Index done = 0;
  for (; done + 4 <= words.size(); done += 4) {
    const auto a = record(done), b = record(done + 1), c = record(done + 2), d = record(done + 3);
    const auto xy_ac = hn::InterleaveLower(four, a, c), xy_bd = hn::InterleaveLower(four, b, d);
    const auto zi_ac = hn::InterleaveUpper(four, a, c), zi_bd = hn::InterleaveUpper(four, b, d);
    hn::StoreU(hn::InterleaveLower(four, xy_ac, xy_bd), four, to.pos[0] + done);
    hn::StoreU(hn::InterleaveUpper(four, xy_ac, xy_bd), four, to.pos[1] + done);
    hn::StoreU(hn::InterleaveLower(four, zi_ac, zi_bd), four, to.pos[2] + done);
    hn::StoreU(hn::BitCast(indices, hn::InterleaveUpper(four, zi_ac, zi_bd)), indices,
               to.index + done);
  }
  return done;
}
HWY_INLINE Index take_by_four(const PositionRecord<double>*, Span<const std::uint64_t>,
                              std::uint64_t, const PositionColumns<double>&) {
  return 0;
}
#endif

template <class Real>
void take(const PositionRecord<Real>* records, Span<const std::uint64_t> words, int num_index_bits,
          const PositionColumns<Real>& to) {
  const std::uint64_t mask = (std::uint64_t{1} << num_index_bits) - 1;
  for (Index i = take_by_four(records, words, mask, to); i < words.size(); ++i) {
    const PositionRecord<Real>& record = records[words[i] & mask];
    for (int axis = 0; axis < 3; ++axis) to.pos[axis][i] = record.pos[axis];
    to.index[i] = record.index;
  }
}

}  // namespace

// Highway's dispatch wants plain functions.
void load_float(const ParticleRow<float>& p, const ChunkPart& to, PositionChunk<float>& c) {
  load(p, to, c);
}
void load_double(const ParticleRow<double>& p, const ChunkPart& to, PositionChunk<double>& c) {
  load(p, to, c);
}
void frame_float(const KeyFrame& f, Index n, PositionChunk<float>& c) { frame_axes(f, n, c); }
void frame_double(const KeyFrame& f, Index n, PositionChunk<double>& c) { frame_axes(f, n, c); }
void keys_float(const float* const (&x)[3], Index n, const KeyFrame& f, std::uint64_t* k) {
  keys_of(x, n, f, k);
}
void keys_double(const double* const (&x)[3], Index n, const KeyFrame& f, std::uint64_t* k) {
  keys_of(x, n, f, k);
}
void records_float(const PositionRecord<float>* r, Index n, PositionChunk<float>& c) {
  records_to_chunk(r, n, c);
}
void records_double(const PositionRecord<double>* r, Index n, PositionChunk<double>& c) {
  records_to_chunk(r, n, c);
}
void take_float(const PositionRecord<float>* r, Span<const std::uint64_t> w, int b,
                const PositionColumns<float>& to) {
  take(r, w, b, to);
}
void take_double(const PositionRecord<double>* r, Span<const std::uint64_t> w, int b,
                 const PositionColumns<double>& to) {
  take(r, w, b, to);
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(load_float);
HWY_EXPORT(load_double);
HWY_EXPORT(frame_float);
HWY_EXPORT(frame_double);
HWY_EXPORT(keys_float);
HWY_EXPORT(keys_double);
HWY_EXPORT(records_float);
HWY_EXPORT(records_double);
HWY_EXPORT(take_float);
HWY_EXPORT(take_double);

void load_coordinates(const ParticleRow<float>& first, const ChunkPart& to,
                      PositionChunk<float>& chunk) {
  HWY_DYNAMIC_DISPATCH(load_float)(first, to, chunk);
}
void load_coordinates(const ParticleRow<double>& first, const ChunkPart& to,
                      PositionChunk<double>& chunk) {
  HWY_DYNAMIC_DISPATCH(load_double)(first, to, chunk);
}
void wrap_and_scale(const KeyFrame& frame, Index num, PositionChunk<float>& chunk) {
  HWY_DYNAMIC_DISPATCH(frame_float)(frame, num, chunk);
}
void wrap_and_scale(const KeyFrame& frame, Index num, PositionChunk<double>& chunk) {
  HWY_DYNAMIC_DISPATCH(frame_double)(frame, num, chunk);
}
void find_keys(const float* const (&axis)[3], Index num, const KeyFrame& frame,
               std::uint64_t* keys) {
  HWY_DYNAMIC_DISPATCH(keys_float)(axis, num, frame, keys);
}
void find_keys(const double* const (&axis)[3], Index num, const KeyFrame& frame,
               std::uint64_t* keys) {
  HWY_DYNAMIC_DISPATCH(keys_double)(axis, num, frame, keys);
}
void load_records(const PositionRecord<float>* records, Index num, PositionChunk<float>& chunk) {
  HWY_DYNAMIC_DISPATCH(records_float)(records, num, chunk);
}
void load_records(const PositionRecord<double>* records, Index num, PositionChunk<double>& chunk) {
  HWY_DYNAMIC_DISPATCH(records_double)(records, num, chunk);
}
void take_records(const PositionRecord<float>* records, Span<const std::uint64_t> words,
                  int num_index_bits, const PositionColumns<float>& to) {
  HWY_DYNAMIC_DISPATCH(take_float)(records, words, num_index_bits, to);
}
void take_records(const PositionRecord<double>* records, Span<const std::uint64_t> words,
                  int num_index_bits, const PositionColumns<double>& to) {
  HWY_DYNAMIC_DISPATCH(take_double)(records, words, num_index_bits, to);
}

}  // namespace zhalo::kernels
#endif
