// Positions, many at a time. Like mass_assignment_blocks.cpp compiled for every vector target.
#include "kernels/host/positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/host/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/positions.cpp"
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
void load_coordinates(const ParticleRow<Real>& first, const ChunkPart& to,
                      PositionChunk<Real>& chunk) {
  const Strided<Real>(&pos)[3] = first.segment.pos;
  const Index done = are_rows(pos) ? load_rows(&pos[0][first.row], to, chunk) : 0;
  for (int axis = 0; axis < 3 && pos[axis]; ++axis) {
    for (Index i = done; i < to.num; ++i) chunk.axis[axis][to.first + i] = pos[axis][first.row + i];
  }
}

template <class Real>
void wrap_and_scale(const KeyFrame& frame, Index num, PositionChunk<Real>& chunk) {
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

/// spread_by_3() and spread_by_2() of kernels/common/arithmetic.hpp.
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
void find_keys(const Real* const (&axis)[3], Index num, const KeyFrame& frame,
               std::uint64_t* keys) {
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
void load_records(const PositionRecord<Real>* records, Index num, PositionChunk<Real>& chunk) {
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
void take_records(const PositionRecord<Real>* records, Span<const std::uint64_t> words,
                  int num_index_bits, const PositionColumns<Real>& to) {
  const std::uint64_t mask = (std::uint64_t{1} << num_index_bits) - 1;
  for (Index i = take_by_four(records, words, mask, to); i < words.size(); ++i) {
    const PositionRecord<Real>& record = records[words[i] & mask];
    for (int axis = 0; axis < 3; ++axis) to.pos[axis][i] = record.pos[axis];
    to.index[i] = record.index;
  }
}

// Extents of many positions.

template <class Real>
using Reals = hn::CappedTag<Real, 16>;

/// Least and most of many numbers, a vector at a time.
template <class Real>
struct Bounds {
  hn::Vec<Reals<Real>> lo;
  hn::Vec<Reals<Real>> hi;
  hn::Vec<Reals<Real>> nothing;  // 0 as long as all are finite

  HWY_INLINE explicit Bounds(Real first)
      : lo(hn::Set(Reals<Real>{}, first)), hi(lo), nothing(hn::Zero(Reals<Real>{})) {}
  HWY_INLINE void add(hn::Vec<Reals<Real>> values) {
    lo = hn::Min(lo, values);
    hi = hn::Max(hi, values);
    nothing = hn::MulAdd(values, hn::Zero(Reals<Real>{}), nothing);
  }
  HWY_INLINE void add_one(Real value) { add(hn::Set(Reals<Real>{}, value)); }
};

/// Of as many of the rows of three coordinates as fill vectors; returns how many.
template <class Real>
Index bound_rows(const Real* from, Index num, Bounds<Real> (&bounds)[3]) {
  const Reals<Real> reals;
  const auto step = static_cast<Index>(hn::Lanes(reals));
  Index done = 0;
  for (; done + step <= num; done += step) {
    hn::Vec<Reals<Real>> x, y, z;
    hn::LoadInterleaved3(reals, from + 3 * done, x, y, z);
    bounds[0].add(x);
    bounds[1].add(y);
    bounds[2].add(z);
  }
  return done;
}

template <class Real>
Index bound_column(const Real* from, Index num, Bounds<Real>& bounds) {
  const Reals<Real> reals;
  const auto step = static_cast<Index>(hn::Lanes(reals));
  Index done = 0;
  for (; done + step <= num; done += step) bounds.add(hn::LoadU(reals, from + done));
  return done;
}

template <class Real>
PositionBounds bounds_of(const Strided<Real> (&pos)[3], Index row, Index num) {
  PositionBounds found;
  constexpr auto size = static_cast<Index>(sizeof(Real));
  const auto start = [&](int a) { return Bounds<Real>(pos[a] ? pos[a][row] : Real{0}); };
  Bounds<Real> bounds[3] = {start(0), start(1), start(2)};
  const Index done = are_rows(pos) ? bound_rows(&pos[0][row], num, bounds) : 0;
  for (int a = 0; a < 3; ++a) {
    if (!pos[a]) continue;
    Index at = pos[a].stride_bytes == size ? bound_column(&pos[a][row], num, bounds[a]) : done;
    for (; at < num; ++at) bounds[a].add_one(pos[a][row + at]);
    found.lo[a] = static_cast<double>(hn::GetLane(hn::MinOfLanes(Reals<Real>{}, bounds[a].lo)));
    found.all_finite =
        found.all_finite &&
        hn::AllTrue(Reals<Real>{}, hn::Eq(bounds[a].nothing, hn::Zero(Reals<Real>{})));
    found.hi[a] = static_cast<double>(hn::GetLane(hn::MaxOfLanes(Reals<Real>{}, bounds[a].hi)));
  }
  return found;
}

}  // namespace

ZHALO_TARGET_REALS(load_coordinates);
ZHALO_TARGET_REALS(wrap_and_scale);
ZHALO_TARGET_REALS(find_keys);
ZHALO_TARGET_REALS(load_records);
ZHALO_TARGET_REALS(take_records);
ZHALO_TARGET_REALS(bounds_of);

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

ZHALO_EXPORT_REALS(load_coordinates);
ZHALO_EXPORT_REALS(wrap_and_scale);
ZHALO_EXPORT_REALS(find_keys);
ZHALO_EXPORT_REALS(load_records);
ZHALO_EXPORT_REALS(take_records);
ZHALO_EXPORT_REALS(bounds_of);

template <class Real>
void load_coordinates(const ParticleRow<Real>& first, const ChunkPart& to,
                      PositionChunk<Real>& chunk) {
  ZHALO_BEST_TARGET(load_coordinates, Real)(first, to, chunk);
}
template <class Real>
void wrap_and_scale(const KeyFrame& frame, Index num, PositionChunk<Real>& chunk) {
  ZHALO_BEST_TARGET(wrap_and_scale, Real)(frame, num, chunk);
}
template <class Real>
void find_keys(const Real* const (&axis)[3], Index num, const KeyFrame& frame,
               std::uint64_t* keys) {
  ZHALO_BEST_TARGET(find_keys, Real)(axis, num, frame, keys);
}
template <class Real>
void load_records(const PositionRecord<Real>* records, Index num, PositionChunk<Real>& chunk) {
  ZHALO_BEST_TARGET(load_records, Real)(records, num, chunk);
}
template <class Real>
void take_records(const PositionRecord<Real>* records, Span<const std::uint64_t> words,
                  int num_index_bits, const PositionColumns<Real>& to) {
  ZHALO_BEST_TARGET(take_records, Real)(records, words, num_index_bits, to);
}
template <class Real>
PositionBounds bounds_of(const Strided<Real> (&pos)[3], Index row, Index num) {
  return ZHALO_BEST_TARGET(bounds_of, Real)(pos, row, num);
}

ZHALO_INSTANTIATE_OF_REALS(load_coordinates);
ZHALO_INSTANTIATE_OF_REALS(wrap_and_scale);
ZHALO_INSTANTIATE_OF_REALS(find_keys);
ZHALO_INSTANTIATE_OF_REALS(load_records);
ZHALO_INSTANTIATE_OF_REALS(take_records);
ZHALO_INSTANTIATE_OF_REALS(bounds_of);

}  // namespace zhalo::kernels
#endif
