// Like mass_assignment_blocks.cpp compiled for every vector target.
#include "kernels/host/positions.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/position_bounds.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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
int bound_rows(const Real* from, int num, Bounds<Real> (&bounds)[3]) {
  const Reals<Real> reals;
  const auto step = static_cast<int>(hn::Lanes(reals));
  int done = 0;
  for (; done + step <= num; done += step) {
    hn::Vec<Reals<Real>> x, y, z;
    hn::LoadInterleaved3(reals, from + Index{3} * done, x, y, z);
    bounds[0].add(x);
    bounds[1].add(y);
    bounds[2].add(z);
  }
  return done;
}

template <class Real>
int bound_column(const Real* from, int num, Bounds<Real>& bounds) {
  const Reals<Real> reals;
  const auto step = static_cast<int>(hn::Lanes(reals));
  int done = 0;
  for (; done + step <= num; done += step) bounds.add(hn::LoadU(reals, from + done));
  return done;
}

template <class Real>
void bound(const Strided<Real> (&pos)[3], Index row, int num, PositionBounds& found) {
  constexpr auto size = static_cast<Index>(sizeof(Real));
  const auto start = [&](int a) { return Bounds<Real>(pos[a] ? pos[a][row] : Real{0}); };
  Bounds<Real> bounds[3] = {start(0), start(1), start(2)};
  const int done = are_rows(pos) ? bound_rows(&pos[0][row], num, bounds) : 0;
  for (int a = 0; a < 3; ++a) {
    if (!pos[a]) continue;
    int at = pos[a].stride_bytes == size ? bound_column(&pos[a][row], num, bounds[a]) : done;
    for (; at < num; ++at) bounds[a].add_one(pos[a][row + at]);
    found.lo[a] = static_cast<double>(hn::GetLane(hn::MinOfLanes(Reals<Real>{}, bounds[a].lo)));
    found.all_finite =
        found.all_finite &&
        hn::AllTrue(Reals<Real>{}, hn::Eq(bounds[a].nothing, hn::Zero(Reals<Real>{})));
    found.hi[a] = static_cast<double>(hn::GetLane(hn::MaxOfLanes(Reals<Real>{}, bounds[a].hi)));
  }
}

}  // namespace

// Highway's dispatch wants plain functions.
void bound_float(const Strided<float> (&p)[3], Index r, int n, PositionBounds& b) {
  bound(p, r, n, b);
}
void bound_double(const Strided<double> (&p)[3], Index r, int n, PositionBounds& b) {
  bound(p, r, n, b);
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(bound_float);
HWY_EXPORT(bound_double);

PositionBounds bounds_of(const Strided<float> (&pos)[3], Index row, Index num) {
  PositionBounds bounds;
  HWY_DYNAMIC_DISPATCH(bound_float)(pos, row, static_cast<int>(num), bounds);
  return bounds;
}
PositionBounds bounds_of(const Strided<double> (&pos)[3], Index row, Index num) {
  PositionBounds bounds;
  HWY_DYNAMIC_DISPATCH(bound_double)(pos, row, static_cast<int>(num), bounds);
  return bounds;
}

}  // namespace zhalo::kernels
#endif
