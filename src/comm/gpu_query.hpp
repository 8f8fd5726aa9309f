/// What the MPI library says about addresses in device memory.
#pragma once

namespace zhalo {

/// Whether the library says that it takes them. One of gpu_query_*.cpp is built: the one for the
/// library at hand.
bool mpi_says_gpu_aware();

}  // namespace zhalo
