/// Checks of the addresses that the user gave.
#pragma once

#include "kernels/memory.hpp"
#include "src/core/validate.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo {

/// Throws InputError if the device of `exec` cannot use this address, which may be null; `what`
/// begins the message. Without the check a kernel would fail, and nothing could be done on the
/// device afterwards.
inline void validate_memory(const Exec& exec, const void* address, const char* what) {
  const auto* cuda = std::get_if<Cuda>(&exec);
  if (cuda == nullptr || address == nullptr) return;
  const kernels::MemoryOwner owner = kernels::owner_of(*cuda, address);
  validate(owner != kernels::MemoryOwner::host,
           "{} cannot be used by CUDA device {}, because the memory is the host's (copy it with "
           "to_exec, or make the context "
           "with host_exec)",
           what, cuda->device);
  validate(
      owner != kernels::MemoryOwner::another_device,
      "{} cannot be used by CUDA device {}, because the memory is another device's (copy it there)",
      what, cuda->device);
}

/// The same of an array, where it has elements.
template <class T>
void validate_memory(const Exec& exec, Span<T> array, const char* what) {
  if (!array.empty()) validate_memory(exec, static_cast<const void*>(array.data()), what);
}

}  // namespace zhalo
