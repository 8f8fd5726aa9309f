/// What the reports for machines of all commands have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/common/measure.hpp"
#include "apps/common/places.hpp"
#include "zhalo/core/vec.hpp"
#include "zhalo/io/snapshot_info.hpp"

namespace zhalo::app {

using nlohmann::ordered_json;

ordered_json json_of(const Vec3d& v);
ordered_json json_of(const io::SnapshotInfo& info);
/// Names and values of where a run is, to be put into a report.
ordered_json json_of(const Places& places);
/// Maximum, mean and imbalance.
ordered_json json_of(const Spread& spread);
/// Of each phase its seconds and how many of `num` items it did in a second, under the name `rate`.
ordered_json json_of_phases(const Measured& measured, Index num, const char* rate = "particles_per_second");
/// Names and values of the peak memory, to be put into a report.
ordered_json json_of_memory(const Measured& measured);

/// In bytes; the memory is that of all ranks together.
template <class Estimate>
ordered_json json_of_estimate(const Estimate& estimate) {
  return {{"memory_bytes", estimate.memory},
          {"memory_bytes_per_rank", estimate.memory_per_rank},
          {"output_bytes", estimate.output}};
}

template <class T>
ordered_json json_of(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// The report's text; bytes that are no UTF-8 are replaced.
std::string text_of(const ordered_json& report);

}  // namespace zhalo::app
