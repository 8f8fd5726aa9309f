/// What a run needs of memory, and what it needed: time, memory, and what it read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/report/report.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo::app {

/// Of a number that each rank has.
struct Spread {
  double max = 0;
  double mean = 0;
  /// The rank with most against the mean: 1 is even.
  double imbalance() const { return mean > 0 ? max / mean : 1; }
};

struct PhaseSpread {
  std::string name;
  Spread seconds;
};

struct Measured {
  double seconds = 0;  ///< of all
  std::vector<PhaseSpread> phases;
  Spread peak_resident;        ///< bytes; VmHWM, thus with program and libraries
  bool is_one_process = true;  ///< then that is of all ranks together
  Spread peak_pool;            ///< bytes; the columns and work arrays
  /// Bytes of devices: in use at most, and held; of the rank with most. 0 without devices.
  double peak_device = 0;
  double peak_device_held = 0;
};

/// Collective.
Spread spread_of(const Communicator& comm, double value);

/// Of a run that has taken `seconds`. The phases are those of context.timers on rank 0. The rest of
/// the time is "other": so the phases of one rank add up to the whole. Collective.
Measured measure(const Context& context, double seconds);

/// Maximum, mean and imbalance.
Json json_of(const Spread& spread);

/// The fewest and the most items that a rank read.
struct ReadPerRank {
  Index min = 0;
  Index max = 0;
};

/// Of a rank that has read `num`. Collective.
ReadPerRank read_per_rank(const Communicator& comm, Index num);

/// What a run measured, for its rows.
struct Run {
  const Measured& measured;
  Index num_items = 0;
  bool alone = true;                         ///< one rank
  std::string items{"particles"};            ///< what is counted
  std::string held{"particles and search"};  ///< what the memory of the pools is for
};

/// A table. Seconds are those of the slowest rank; max/mean is how much longer it took than the
/// mean of all.
Row phases_row(const Run& run);
/// Nothing for people if there is one rank.
Row read_per_rank_row(const Run& run, const ReadPerRank& read);
/// The most memory of a rank, below an empty line.
Row peak_memory_row(const Run& run);

struct RankLayout {
  int num_ranks = 1;
  int num_machines = 1;
  bool on_device = false;  ///< any of them
  std::string runs_on;     ///< each kind of processor, with the number of ranks on it
  /// Of messages: "host memory", or Communicator::describe_transport().
  std::string transport;
  std::vector<std::string> map;  ///< of each rank: machine and processor. On rank 0 alone
};

/// Collective. `wants_device`: where there is none, the reason is told.
RankLayout survey_ranks(const Context& context, bool wants_device);

/// Where the ranks are and how they send; each of them if `verbose`.
Row ranks_row(const RankLayout& ranks, bool verbose);

// What a run needs of the memory of devices: said before it begins, checked, and looked after.

/// Of a run if its ranks compute on CUDA devices.
struct DeviceNeed {
  std::string work;      ///< begins messages: "groups of 1000 particles"
  NeedOfRanks of_ranks;  ///< bytes of each device, for any number of ranks
};

/// For dry runs and for machines; nothing is said to people if no rank is on a device.
Row device_need_row(const DeviceNeed& need, const RankLayout& ranks);

/// Makes sure that devices have this much. OutOfMemory on all ranks says how many would do; for a
/// dry run that is a warning. Collective.
void check_device_need(const Context& context, const DeviceNeed& need, bool is_dry_run,
                       std::vector<std::string>& warnings);

/// While the object lives, a failing allocation says how many devices would do. Collective;
/// OutOfMemory.
std::unique_ptr<DeviceMemoryScope> look_after_devices(const Context& context,
                                                      const DeviceNeed& need);

}  // namespace zhalo::app
