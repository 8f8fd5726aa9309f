/// Contracts: the programmer's promises, checked in Debug builds on host and device. The user's mistakes are not contracts: they
/// throw InputError always.
#pragma once

#include "zhalo/core/config.hpp"

namespace zhalo {

/// Throws ContractViolation with the place.
[[noreturn]] void contract_failed(const char* condition, const char* file, int line);

}  // namespace zhalo

#if !ZHALO_CHECKED
#define ZHALO_EXPECT(condition) static_cast<void>(0)
#elif ZHALO_ON_DEVICE
#include <cassert>
#define ZHALO_EXPECT(condition) assert(condition)
#else
#define ZHALO_EXPECT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::zhalo::contract_failed(#condition, __FILE__, __LINE__))
#endif
