// Like mass_assignment_blocks.cpp compiled for every vector target.
#include "kernels/host/dispatch.hpp"
#include "kernels/host/mass_assignment_blocks.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/sum_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, 8>;
using Integers = hn::RebindToSigned<Doubles>;

HWY_INLINE void store(hn::Vec<Doubles> values, double* to) { hn::StoreU(values, Doubles{}, to); }
HWY_INLINE void store(hn::Vec<Doubles> values, float* to) {
  const hn::Rebind<float, Doubles> floats;
  hn::StoreU(hn::DemoteTo(floats, values), floats, to);
}

template <class To>
Index write(const Index* from, Index num, const LinearMap& map, To* to) {
  const auto step = static_cast<Index>(hn::Lanes(Doubles{}));
  const auto factor = hn::Set(Doubles{}, map.factor);
  const auto addend = hn::Set(Doubles{}, map.addend);
  auto sums = hn::Zero(Integers{});
  Index i = 0;
  for (; i + step <= num; i += step) {
    const auto units = hn::LoadU(Integers{}, from + i);
    sums = hn::Add(sums, units);
    store(hn::Add(hn::Mul(hn::ConvertTo(Doubles{}, units), factor), addend), to + i);
  }
  Index sum = hn::GetLane(hn::SumOfLanes(Integers{}, sums));
  for (; i < num; ++i) {
    sum += from[i];
    to[i] = static_cast<To>(static_cast<double>(from[i]) * map.factor + map.addend);
  }
  return sum;
}

}  // namespace

void add_dispatched(const Index* from, Index num, Index* to) {
  const auto step = static_cast<Index>(hn::Lanes(Integers{}));
  Index i = 0;
  for (; i + step <= num; i += step) {
    hn::StoreU(hn::Add(hn::LoadU(Integers{}, to + i), hn::LoadU(Integers{}, from + i)), Integers{},
               to + i);
  }
  for (; i < num; ++i) to[i] += from[i];
}
ZHALO_TARGET_REALS(write);

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(add_dispatched);
ZHALO_EXPORT_REALS(write);

void add_row(const Index* from, Index num, Index* to) {
  HWY_DYNAMIC_DISPATCH(add_dispatched)(from, num, to);
}
template <class T>
Index write_row(const Index* from, Index num, const LinearMap& map, T* to) {
  return ZHALO_BEST_TARGET(write, T)(from, num, map, to);
}

ZHALO_INSTANTIATE_OF_REALS(write_row);

}  // namespace zhalo::kernels
#endif
