// For MPI libraries that cannot be asked: Cray's is told by the variable MPICH_GPU_SUPPORT_ENABLED,
// others count as unaware.
#include <cstdlib>
#include <string_view>

#include "src/comm/state.hpp"

namespace zhalo {

bool mpi_says_gpu_aware() {
  const char* cray = std::getenv("MPICH_GPU_SUPPORT_ENABLED");
  return cray != nullptr && std::string_view(cray) == "1";
}

}  // namespace zhalo
