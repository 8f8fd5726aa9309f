/// Rows that the reports of several commands have.
#pragma once

#include <string>
#include <vector>

#include "apps/report/report.hpp"
#include "zhalo/core/box.hpp"
#include "zhalo/io/snapshot_info.hpp"

namespace zhalo::app {

/// What is in the snapshot, and an empty line.
Row snapshot_row(const io::SnapshotInfo& info);

/// The files of a snapshot, a line each.
std::string input_lines(const std::vector<std::string>& files);

/// Of the box to search in; `unit` of lengths.
std::string box_text(const Box& box, const std::string& unit);

/// How much memory a run may need on all ranks, and on each; `what` it is for.
template <class Estimate>
Row memory_need_row(const std::string& what, const Estimate& estimate, int num_ranks) {
  const std::string each =
      fmt::format(", {} on each of {} ranks", bytes_text(estimate.memory_per_rank), num_ranks);
  return {line("Memory", "at most {} for {}{}", bytes_text(estimate.memory), what,
               num_ranks > 1 ? each : ""),
          {{"memory_bytes", estimate.memory}, {"memory_bytes_per_rank", estimate.memory_per_rank}}};
}

/// How many of the `items` (their plural) were wrapped into the box; empty if none was.
std::string wrapped_line(Index num, const std::string& items);

/// Paths of what was written: those of this rank, and how many there are on all.
Row files_row(const std::vector<std::string>& files, Index num_files);

}  // namespace zhalo::app
