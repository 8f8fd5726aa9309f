/// What the lanes of kernels load and store, line by line of the source, where the compiler tells:
/// profile_lines.cpp, with the option ZHALO_DEVICE_PROFILE. Else nothing: profile_none.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zhalo::emulated::profile {

/// One instruction of a kernel, over all warps. A request is what the lanes of a warp that get
/// there together ask for.
struct Instruction {
  std::string kernel;
  std::uintptr_t address = 0;
  std::int64_t requests = 0;
  std::int64_t lanes = 0;    ///< that took part
  std::int64_t sectors = 0;  ///< of 32 bytes, of the device's memory
  std::int64_t bytes = 0;    ///< that the lanes asked for
};

/// The lanes of a warp of this kernel have run to their next collective, or to their end.
void end_step(const std::string& kernel);

/// Forgets what was noted so far.
void clear();
/// Of all kernels since then.
std::vector<Instruction> instructions();

}  // namespace zhalo::emulated::profile
