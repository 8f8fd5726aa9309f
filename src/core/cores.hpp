/// The cores of this process, which may be fewer than those of the machine.
#pragma once

#include <sched.h>

#include <optional>

namespace zhalo {

/// On which its loops may run. Nothing if it cannot be said, as on machines of more cores than a
/// cpu_set_t knows.
///
/// OpenMP may be told to bind threads (OMP_PROC_BIND, OMP_PLACES). Then it binds the first thread
/// before main() begins, and threads of the process inherit the few cores that this one has left.
/// So the places count that OpenMP made of the cores of the process.
std::optional<cpu_set_t> cores_of_process();

}  // namespace zhalo
