/// What a run needs of the memory of devices: said before it begins, checked, and looked after.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/report/measure.hpp"
#include "apps/report/report.hpp"
#include "zhalo/comm/device_memory.hpp"

namespace zhalo::app {

/// Of a run if its ranks compute on CUDA devices.
struct DeviceNeed {
  std::string work;      ///< begins messages: "groups of 1000 particles"
  NeedOfRanks of_ranks;  /// bytes of each device, for any number of ranks
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
