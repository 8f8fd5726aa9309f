/// Counting labels on a device: members of a group often follow each other, and are added at once.
#pragma once

#include "kernels/common/catalogue/groups.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/lanes/warp_lanes.cuh"

namespace zhalo::kernels {

/// As CountLabel, by runs of equal labels among as many particles as there are lanes.
template <class Lanes>
struct CountLabelRuns {
  struct Scratch {
    Index label[Lanes::size];
  };

  CountLabel count;

  ZHALO_HD void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    const Index begin = item * Lanes::size;
    const Index left = count.label.size() - begin;
    const Index num = left < Lanes::size ? left : Index{Lanes::size};
    lanes.for_each_lane(num, [&](Index i) {
      s.label[i] = count.counts_for_group(begin + i) ? count.label[begin + i] : no_group;
    });
    lanes.sync();
    const std::uint64_t starts = lanes.filter(
        first_bits(num), [&](int i) { return i == 0 || s.label[i] != s.label[i - 1]; });
    lanes.for_each_bit(starts, [&](int i) {
      if (s.label[i] == no_group) return;
      const std::uint64_t behind = starts & ~first_bits(i + 1);
      const Index end = behind == 0 ? num : Index{lowest_bit(behind)};
      atomic_add(count.counts[s.label[i]], static_cast<LocalIndex>(end - i));
    });
  }
};

template <>
void count_labels(const Cuda& exec, Span<const Index> label, Span<const LocalIndex> marks,
                  Span<LocalIndex> counts) {
  using Lanes = WarpLanes<float>;
  fill(exec, counts, LocalIndex{0});
  for_each_with_lanes(exec, (label.size() + Lanes::size - 1) / Lanes::size,
                      CountLabelRuns<Lanes>{{label, marks, counts, false}}, Lanes{});
}

}  // namespace zhalo::kernels
