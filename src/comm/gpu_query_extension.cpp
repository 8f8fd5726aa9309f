// For MPI libraries with the extension MPIX_Query_cuda_support: Open MPI and its relatives.
#include <mpi.h>

#include <mpi-ext.h>

#include "src/comm/state.hpp"

namespace zhalo {

bool mpi_says_gpu_aware() { return MPIX_Query_cuda_support() == 1; }

}  // namespace zhalo
