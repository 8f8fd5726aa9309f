#include "apps/common/memory_need.hpp"

#include <fmt/format.h>

#include "apps/common/report_parts.hpp"
#include "zhalo/core/memory.hpp"

namespace zhalo::app {

std::optional<std::string> lack_of_memory(const Context& context, double bytes_per_rank) {
  const Communicator& comm = context.comm;
  const double needed = comm.max(bytes_per_rank * comm.node_size());
  const double available = comm.min(static_cast<double>(available_host_bytes()));
  if (!std::holds_alternative<Host>(context.exec) || needed <= available) return std::nullopt;
  return fmt::format("{} on a machine that has {} available{}", bytes_text(needed), bytes_text(available),
                     describe_memory_limit());
}

}  // namespace zhalo::app
