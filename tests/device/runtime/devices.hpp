/// Which device a thread of the host has chosen, what went wrong last, and what is left in the end.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace zhalo::emulated {

int current_device();

/// The current device gets a context, if it has none: memory that it does not give back, which
/// other processes on it would lack.
void start_device();
bool has_started(int device);

/// Remembers the error for cudaGetLastError and returns it. An error that the program never clears
/// was dropped: the process does not end well (see watch_the_end).
cudaError_t result(cudaError_t error);
/// The error that is remembered, for what asks without forgetting it (cudaPeekAtLastError).
cudaError_t last_result();
/// After an illegal access, calls fail until this thread has asked for the error. (A real device
/// never recovers.)
bool has_failed();

/// Memory of the host that devices copy from and to while the program goes on.
void add_pinned(const void* block, std::size_t bytes);
bool remove_pinned(const void* block);
bool is_pinned(const void* address);

/// Copies between devices that arrive nowhere, without an error, as where an IOMMU is in the way.
enum class LostCopies { none, of_connected, all };
void lose_copies(LostCopies which);
bool is_lost(int to_device, int from_device);

/// A device goes on with work that was given up: the memory that it may write need not be freed.
void allow_lost_memory();
/// From now on the process ends with a message if memory of a device was not freed, or if an error
/// was dropped.
void watch_the_end();

}  // namespace zhalo::emulated
