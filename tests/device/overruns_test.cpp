// Under AddressSanitizer: accesses outside of blocks are reported, with file and line.
#include "tests/device/outcome.hpp"

namespace zhalo::testing {

TEST_CASE("accesses outside of blocks, by file and line") {
  for (const char* name : {"read_behind", "read_before", "write_behind", "use_after_free"}) {
    check_stops(name, "AddressSanitizer: use-after-poison");
    check_stops(name, "planted.cu:");
  }
  // Of an array, whose size UndefinedBehaviorSanitizer knows.
  check_stops("overrun_shared", "Sanitizer: ");
  check_stops("overrun_shared", "planted.cu:");
}

}  // namespace zhalo::testing
