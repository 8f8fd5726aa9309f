/// Sharing the cores of a machine.
#pragma once

#include <sched.h>

#include <vector>

namespace zhalo {

/// fair_threads() of the rank that may run on the cores `mine`; `all` are the sets of all ranks of
/// the machine, `mine` among them.
int fair_threads_of(const cpu_set_t& mine, const std::vector<cpu_set_t>& all);

}  // namespace zhalo
