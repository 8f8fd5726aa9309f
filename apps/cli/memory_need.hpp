/// Whether a run fits into memory.
#pragma once

#include <optional>
#include <string>

#include "zhalo/comm/context.hpp"

namespace zhalo::app {

/// "12 GiB on a machine that has 8 GiB available", if that is so for what each rank needs; nothing
/// for a device, which tells by itself. Linux would grant the memory and kill the process when it
/// is used. Collective.
std::optional<std::string> lack_of_memory(const Context& context, double bytes_per_rank);

}  // namespace zhalo::app
