#include "apps/report/device_memory.hpp"

#include <fmt/format.h>

#include "zhalo/core/error.hpp"

namespace zhalo::app {

Row device_need_row(const DeviceNeed& need, const RankLayout& ranks) {
  const double bytes = need.of_ranks(ranks.num_ranks);
  const std::string each = ranks.num_ranks > 1
                               ? fmt::format("the device of each of {} ranks", ranks.num_ranks)
                               : std::string("the device");
  // More than an integer holds, of far too many particles, is still a number.
  const Json number = bytes < 9e18 ? Json(static_cast<std::size_t>(bytes)) : Json(bytes);
  return {ranks.on_device ? line("Device", "about {} of {}", bytes_text(bytes), each) : "",
          {{"device_memory_bytes_per_rank", number}}};
}

std::unique_ptr<DeviceMemoryScope> look_after_devices(const Context& context,
                                                      const DeviceNeed& need) {
  std::unique_ptr<DeviceMemoryScope> scope;
  context.comm.together(
      [&] { scope = std::make_unique<DeviceMemoryScope>(context, need.work, need.of_ranks); });
  return scope;
}

void check_device_need(const Context& context, const DeviceNeed& need, bool is_dry_run,
                       std::vector<std::string>& warnings) {
  try {
    look_after_devices(context, need);
  } catch (const OutOfMemory& error) {
    if (!is_dry_run) throw;
    warnings.emplace_back(error.what());
  }
}

}  // namespace zhalo::app
