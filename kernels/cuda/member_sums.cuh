/// Sums over blocks of members on a device: a warp for each, a member in each lane.
#pragma once

#include <type_traits>

#include "kernels/cuda/launch.cuh"
#include "kernels/lanes/warp_lanes.cuh"

namespace zhalo::kernels {

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
