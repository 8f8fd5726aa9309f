/// What the reports for people of all commands have in common.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/measure.hpp"
#include "apps/report/rank_layout.hpp"
#include "zhalo/core/box.hpp"

namespace zhalo::app {

/// Lines in the style of io::describe.
class Lines {
 public:
  void line(const std::string& name, const std::string& value);
  void plain(const std::string& text) { text_ += text + "\n"; }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

/// "1.5 MiB". Estimates are real numbers: they may be beyond the integers.
std::string bytes_text(double bytes);
std::string bytes_text(std::size_t bytes);

/// Of the box to search in; `unit` of lengths.
std::string box_text(const Box& box, const std::string& unit);

/// Where the ranks are and how they send; each of them if `verbose`.
void add_rank_layout(Lines& lines, const RankLayout& ranks, bool verbose);

/// The files of a snapshot, a line each.
void add_inputs(Lines& lines, const std::vector<std::string>& files);

/// How much memory a run may need on all ranks, and on each; `what` it is for.
template <class Estimate>
void add_memory_estimate(Lines& lines, const std::string& what, const Estimate& estimate,
                         int num_ranks) {
  std::string text = "at most " + bytes_text(estimate.memory) + " for " + what;
  if (num_ranks > 1)
    text += ", " + bytes_text(estimate.memory_per_rank) + " on each of " +
            std::to_string(num_ranks) + " ranks";
  lines.line("Memory", text);
}

/// How many of the `items` (their plural) were wrapped into the box; no line if none was.
void add_wrapped(Lines& lines, Index num, const std::string& items);

/// What a run measured, for a table.
struct Run {
  const Measured& measured;
  double seconds = 0;  ///< of all
  Index num_items = 0;
  bool alone = true;                         ///< one rank
  std::string items{"particles"};            ///< what is counted
  std::string held{"particles and search"};  ///< what the memory of the pools is for
};

/// Seconds are those of the slowest rank; max/mean is how much longer it took than the mean of all.
void add_phases(Lines& lines, const Run& run);
void add_memory(Lines& lines, const Run& run);

/// Paths of what was written: those of this rank, and how many there are on all.
void add_files(Lines& lines, const std::vector<std::string>& files, Index num_files);

}  // namespace zhalo::app
