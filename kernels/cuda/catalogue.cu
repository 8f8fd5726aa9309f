// Groups on CUDA.
#define ZHALO_BACKEND Cuda

#include <type_traits>

#include "kernels/catalogue.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"

namespace zhalo::kernels {

/// Sums over blocks of members: a warp for each, a member in each lane.
template <class Lanes, class SumBlock>
struct SumBlockByLanes {
  struct Scratch {
    typename SumBlock::Sum sums[Lanes::size];
  };

  SumBlock block;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    lanes.for_each_lane(Lanes::size,
                        [&](Index lane) { s.sums[lane] = block.sum_of(item, lane, Lanes::size); });
    for (int half = Lanes::size / 2; half > 0; half /= 2) {
      lanes.sync();
      lanes.for_each_lane(half, [&](Index lane) { s.sums[lane] += s.sums[lane + half]; });
    }
    lanes.one([&] { block.sums[item] = s.sums[0]; });
  }
};

template <class SumBlock>
void sum_blocks(const Cuda& exec, const SumBlock& block) {
  static_assert(std::is_trivially_copyable_v<SumBlock>, "values and device pointers only");
  using Lanes = WarpLanes<float>;
  for_each_with_lanes(exec, block.sums.size(), SumBlockByLanes<Lanes, SumBlock>{block}, Lanes{});
}

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/catalogue/group_sums.hpp"
#include "kernels/common/catalogue/groups.hpp"

// ---------------------------------------------------------------- counts of members

namespace zhalo::kernels {

/// By runs of equal roots among as many particles as there are lanes: members of a
/// group often follow each other, and are added at once.
template <class Lanes, class T>
struct CountMemberRuns {
  struct Scratch {
    Index root[Lanes::size];
  };

  CountMember<T> count;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    const Index begin = item * Lanes::size;
    const Index left = count.root.size() - begin;
    const Index num = left < Lanes::size ? left : Index{Lanes::size};
    lanes.for_each_lane(num, [&](Index i) {
      s.root[i] = count.counts_for_group(begin + i) ? Index{count.root[begin + i]} : no_group;
    });
    lanes.sync();
    const std::uint64_t starts =
        lanes.filter(first_bits(num), [&](int i) { return i == 0 || s.root[i] != s.root[i - 1]; });
    lanes.for_each_bit(starts, [&](int i) {
      if (s.root[i] == no_group) return;
      const std::uint64_t behind = starts & ~first_bits(i + 1);
      const Index end = behind == 0 ? num : Index{lowest_bit(behind)};
      atomic_add(count.counts[s.root[i]], static_cast<LocalIndex>(end - i));
    });
  }
};

template <class E, class T>
void count_members(const E& exec, Span<const T> root, Span<const LocalIndex> marks,
                   Span<LocalIndex> counts) {
  using Lanes = WarpLanes<float>;
  fill(exec, counts, LocalIndex{0});
  for_each_with_lanes(exec, (root.size() + Lanes::size - 1) / Lanes::size,
                      CountMemberRuns<Lanes, T>{{root, marks, counts}}, Lanes{});
}

ZHALO_INSTANTIATE(count_members, Index);
ZHALO_INSTANTIATE(count_members, LocalIndex);

}  // namespace zhalo::kernels
