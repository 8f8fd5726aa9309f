// Groups on the host. Sums over members are in vectors: the text of
// kernels/common/catalogue/halo_sums.inl.hpp, compiled for every vector target.
#define ZHALO_BACKEND Host

#include <bit>
#include <cstdint>

#include "kernels/host/member_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/catalogue.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace zhalo::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using IntegerTag = hn::RebindToSigned<DoubleTag>;
using DoubleMask = hn::Mask<DoubleTag>;

/// A vector of doubles, as halo_sums.inl.hpp wants them. Its default constructor is trivial: that
/// of a class with such members is compiled for no vector target.
struct Doubles {
  static constexpr int size = static_cast<int>(hn::MaxLanes(DoubleTag{}));
  hn::Vec<DoubleTag> value;

  Doubles() = default;
  HWY_INLINE explicit Doubles(double x) : value(hn::Set(DoubleTag{}, x)) {}
  HWY_INLINE explicit Doubles(hn::Vec<DoubleTag> v) : value(v) {}

  HWY_INLINE Doubles operator+(Doubles b) const { return Doubles(hn::Add(value, b.value)); }
  HWY_INLINE Doubles operator-(Doubles b) const { return Doubles(hn::Sub(value, b.value)); }
  HWY_INLINE Doubles operator*(Doubles b) const { return Doubles(hn::Mul(value, b.value)); }
  HWY_INLINE DoubleMask operator<(Doubles b) const { return hn::Lt(value, b.value); }
  HWY_INLINE DoubleMask operator<=(Doubles b) const { return hn::Le(value, b.value); }
};

struct Integers {
  hn::Vec<IntegerTag> value;

  Integers() = default;
  HWY_INLINE explicit Integers(hn::Vec<IntegerTag> v) : value(v) {}
  HWY_INLINE Integers& operator+=(Integers b) {
    value = hn::Add(value, b.value);
    return *this;
  }
};

template <class Number>
struct IntegersIn {
  using type = Index;
};
template <>
struct IntegersIn<Doubles> {
  using type = Integers;
};
template <class Number>
using IntegersOf = typename IntegersIn<Number>::type;

HWY_INLINE Doubles whole_of(Doubles x) { return Doubles(hn::Trunc(x.value)); }
HWY_INLINE Integers integers_of(Doubles x) {
  return Integers(hn::ConvertTo(IntegerTag{}, x.value));
}
HWY_INLINE Doubles magnitude(Doubles x) { return Doubles(hn::Abs(x.value)); }
HWY_INLINE Doubles larger(Doubles a, Doubles b) { return Doubles(hn::Max(a.value, b.value)); }
HWY_INLINE DoubleMask both(DoubleMask a, DoubleMask b) { return hn::And(a, b); }
HWY_INLINE Doubles where(DoubleMask is_set, Doubles x) {
  return Doubles(hn::IfThenElseZero(is_set, x.value));
}
HWY_INLINE Index num_unset(DoubleMask is_set) {
  return Doubles::size - static_cast<Index>(hn::CountTrue(DoubleTag{}, is_set));
}
HWY_INLINE Index total(Integers x) { return hn::GetLane(hn::SumOfLanes(IntegerTag{}, x.value)); }
HWY_INLINE double largest(Doubles x) { return hn::GetLane(hn::MaxOfLanes(DoubleTag{}, x.value)); }

using kernels::larger;
using kernels::largest;
using kernels::total;

}  // namespace
}  // namespace zhalo::kernels::HWY_NAMESPACE

#define ZHALO_NUMBERS_NAMESPACE zhalo::kernels::HWY_NAMESPACE
#define ZHALO_NUMBERS_INLINE HWY_INLINE
#include "kernels/common/catalogue/halo_sums.inl.hpp"
#undef ZHALO_NUMBERS_NAMESPACE
#undef ZHALO_NUMBERS_INLINE

namespace zhalo::kernels::HWY_NAMESPACE {
namespace {

HWY_INLINE Doubles load(const double* from) { return Doubles(hn::Load(DoubleTag{}, from)); }

/// Fills the last vector with members that have no mass. They lie where the last one does, so that
/// none is farther away.
void fill_last_vector(MemberBatch& batch, const HaloReference& about) {
  for (int last = batch.num - 1; batch.num % Doubles::size != 0; ++batch.num) {
    batch.mass[batch.num] = 0;
    for (int axis = 0; axis < 3; ++axis) {
      batch.pos[axis][batch.num] = batch.pos[axis][last];
      batch.velocity[axis][batch.num] = about.velocity[axis];
    }
  }
}

/// The sums of this namespace have the text, and so the bits, of those elsewhere.
template <class VectorSum, class OneSum, class Sum>
void add_members(MemberBatch& batch, const BatchFrame& frame, Sum& sum) {
  fill_last_vector(batch, frame.about);
  const Doubles resolution(resolution_of(frame.about.length));
  VectorSum of_vectors;
  for (int at = 0; at < batch.num; at += Doubles::size) {
    HaloMember<Doubles> member;
    member.mass = load(batch.mass + at);
    for (int axis = 0; axis < 3; ++axis) {
      member.pos[axis] = load(batch.pos[axis] + at);
      member.velocity[axis] = load(batch.velocity[axis] + at);
    }
    member.relate_to(frame.about, frame.period);
    of_vectors.add(member, resolution);
  }
  auto of_all = std::bit_cast<OneSum>(sum);
  of_all += of_vectors;
  sum = std::bit_cast<Sum>(of_all);
}

}  // namespace

void add_moments(MemberBatch& batch, const BatchFrame& frame, Moments& sum) {
  add_members<MomentsOf<Doubles>, MomentsOf<double>>(batch, frame, sum);
}
void add_spreads(MemberBatch& batch, const BatchFrame& frame, Spreads& sum) {
  add_members<SpreadsOf<Doubles>, SpreadsOf<double>>(batch, frame, sum);
}

}  // namespace zhalo::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zhalo::kernels {

HWY_EXPORT(add_moments);
HWY_EXPORT(add_spreads);

void add_batch(MemberBatch& batch, const BatchFrame& frame, Moments& sum) {
  HWY_DYNAMIC_DISPATCH(add_moments)(batch, frame, sum);
}
void add_batch(MemberBatch& batch, const BatchFrame& frame, Spreads& sum) {
  HWY_DYNAMIC_DISPATCH(add_spreads)(batch, frame, sum);
}

}  // namespace zhalo::kernels

#include "kernels/common/catalogue/group_sums.hpp"
#include "kernels/common/catalogue/groups.hpp"

namespace zhalo::kernels {

namespace {

/// The members in [first, last), which one thread counts. An atomic addition takes three times as
/// long as another one: only those need it whose roots are in another part.
template <class T>
struct PartOfMembers {
  CountMember<T> count;
  Index first = 0, last = 0;

  bool is_own(T root) const {
    return static_cast<std::uint64_t>(root) - static_cast<std::uint64_t>(first) <
           static_cast<std::uint64_t>(last - first);
  }

  void count_own() const {
    for (Index i = first; i < last; ++i) {
      if (i + prefetch_distance < last) count.prefetch(i + prefetch_distance);
      if (count.counts_for_group(i) && is_own(count.root[i])) ++count.counts[Index{count.root[i]}];
    }
  }

  /// Of the members [begin, end), when all parts have counted their own.
  void count_others(Index begin, Index end) const {
    for (Index i = begin; i < end; ++i) {
      if (count.counts_for_group(i) && !is_own(count.root[i]))
        atomic_add(count.counts[Index{count.root[i]}], LocalIndex{1});
    }
  }
};

}  // namespace

template <class E, class T>
void count_members(const E& exec, Span<const T> root, Span<const LocalIndex> marks,
                   Span<LocalIndex> counts) {
  fill(exec, counts, LocalIndex{0});
  const OrderedParts parts(exec, root.size());
  const auto part = [&](Index p) {
    return PartOfMembers<T>{{root, marks, counts}, parts.first(p), parts.end(p)};
  };
  run_tasks(exec, parts.num(), [&](Index p) { part(p).count_own(); });
  if (parts.num() == 1) return;
  for_each_block(exec, parts,
                 [&](Index p, Index first, Index last) { part(p).count_others(first, last); });
}

ZHALO_INSTANTIATE(count_members, Index);
ZHALO_INSTANTIATE(count_members, LocalIndex);

}  // namespace zhalo::kernels
#endif
