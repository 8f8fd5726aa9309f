/// What the reports for machines of all commands have in common.
#pragma once

#include <string>

#include "apps/report/json.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/io/snapshot_info.hpp"

namespace zhalo::app {

Json json_of(const io::SnapshotInfo& info);
/// Names and values of where a run is, to be put into a report.
Json json_of(const RankLayout& ranks);
/// Maximum, mean and imbalance.
Json json_of(const Spread& spread);
/// Of each phase its seconds and how many of `num` items it did in a second, under the name `rate`.
Json json_of_phases(const Measured& measured, Index num, const char* rate = "particles_per_second");
/// Names and values of the peak memory, to be put into a report.
Json json_of_memory(const Measured& measured);

/// In bytes; the memory is that of all ranks together.
template <class Estimate>
Json json_of_estimate(const Estimate& estimate) {
  return {{"memory_bytes", estimate.memory},
          {"memory_bytes_per_rank", estimate.memory_per_rank},
          {"output_bytes", estimate.output}};
}

}  // namespace zhalo::app
