/// The host's threads.
#pragma once

#include <vector>

namespace zhalo::kernels {

/// The cores of all places to which OpenMP binds the threads of loops; a core may appear twice.
/// Empty if it binds none.
std::vector<int> cores_of_bound_threads();

}  // namespace zhalo::kernels
