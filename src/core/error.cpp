#include "zhalo/core/error.hpp"

#include <fmt/format.h>

namespace zhalo {

void contract_failed(const char* condition, const char* file, int line) {
  throw ContractViolation(
      fmt::format("contract violated: {} at {}:{}; please report this as a bug of zhalo", condition,
                  file, line));
}

}  // namespace zhalo
