/// Several ranks in one process: a thread for each, without a launcher and without MPI.
#pragma once

#include <functional>
#include <vector>

#include "zhalo/comm/context.hpp"

namespace zhalo {

/// Runs `work` on several CUDA devices of this process at once, and returns when all are done. Each
/// device has a thread of its own, which is a rank: number i computes on devices[i]. Its Context is
/// as one of MPI ranks. All calls that are collective there are so here, and the results are the
/// same bits. The threads end before the function returns. A device may be named twice.
///
/// Arrays of a device travel by copies from device to device, unless `options.transport` or
/// ZHALO_TRANSPORT asks for NCCL or for staging.
///
/// `work` and the observer are called by several threads at the same time: what they share must be
/// safe for that. `work` must not call MPI unless MPI was initialised with MPI_THREAD_MULTIPLE.
/// Files are read and written by one thread at a time. A code that uses HDF5 itself must not do so
/// meanwhile, unless its HDF5 is built for threads.
///
/// Errors: an exception that leaves `work` on one thread is thrown by all, as by
/// Communicator::together(), and then by this function. If a thread hangs, the others throw
/// CommunicationError after the timeout. This function then throws it, too, and leaves that thread
/// behind: whatever `work` refers to must live as long as the process, which should end soon.
/// InputError if no device is named; DeviceError if one cannot be used. To be called by one thread,
/// not by all ranks.
void run_on_devices(const std::vector<int>& devices, const std::function<void(Context&)>& work,
                    const CommunicatorOptions& options = {});

/// The same on the host: `num_ranks` threads, 1 to 1024, which divide the cores among them. This is
/// for tests, and for code that is to run on ranks later. It is not a way to more speed: one rank
/// uses all cores with its own threads.
void run_on_threads(int num_ranks, const std::function<void(Context&)>& work,
                    const CommunicatorOptions& options = {});

/// The numbers of all CUDA devices that this process sees; DeviceError with the reason if there are
/// none.
std::vector<int> all_devices();

}  // namespace zhalo
