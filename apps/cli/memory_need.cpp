#include "apps/cli/memory_need.hpp"

#include <fmt/format.h>

#include "apps/report/report_parts.hpp"
#include "zhalo/core/memory.hpp"

namespace zhalo::app {

std::optional<std::string> lack_of_memory(const Context& context, double bytes_per_rank) {
  const Communicator& comm = context.comm;
  if (!std::holds_alternative<Host>(context.exec)) return std::nullopt;
  const double on_machine = comm.max(bytes_per_rank * comm.node_size());
  const double of_machine = comm.min(static_cast<double>(available_machine_bytes()));
  if (on_machine > of_machine)
    return fmt::format("{} on a machine that has {} available", bytes_text(on_machine),
                       bytes_text(of_machine));
  const double in_process = comm.max(bytes_per_rank);
  const auto own = static_cast<double>(available_host_bytes());
  const double of_process = comm.min(own);
  if (in_process <= of_process) return std::nullopt;
  const Index poorest = comm.min(own == of_process ? Index{comm.rank()} : Index{comm.size()});
  return fmt::format("{} in a process that has {} available{}", bytes_text(in_process),
                     bytes_text(of_process),
                     comm.broadcast(describe_memory_limit(), static_cast<int>(poorest)));
}

}  // namespace zhalo::app
