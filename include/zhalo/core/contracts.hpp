/// Contracts: the programmer's promises, checked in Debug builds on host and device. The user's
/// mistakes are not contracts: they throw InputError always.
#pragma once

#include "zhalo/core/config.hpp"

namespace zhalo {

/// What ZHALO_EXPECT(condition) calls on the host when the condition is false: throws
/// ContractViolation with the place.
[[noreturn]] void contract_failed(const char* condition, const char* file, int line);

}  // namespace zhalo
