/// Faults of what stands in for NCCL.
#pragma once

#include <cstdlib>

namespace zhalo::testing {

/// While it lives, the stand-in fails so (tests/device/nccl/stand_in.cpp).
class Fault {
 public:
  explicit Fault(const char* text) { setenv("ZHALO_NCCL_FAIL", text, 1); }
  ~Fault() { unsetenv("ZHALO_NCCL_FAIL"); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

}  // namespace zhalo::testing
