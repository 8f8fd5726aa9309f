// An emulated device finds each of the faults that it is for, and names the kernel; the same
// without the fault runs.
#include "tests/device/outcome.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/config.hpp"

namespace zhalo::testing {

TEST_CASE("a collective that not all lanes reach") {
  check_stops("branch", "the lanes of a warp are not all at one collective");
  check_stops("branch", "Branch");
  check_stops("branch", " 15:__any_sync 16:__syncwarp");
}

TEST_CASE("a missing sync shows in one order of the lanes or the other") {
  const std::string right = run_planted("synced").output;
  check_prints("synced", right, "ZHALO_EMULATED_ORDER=reversed");
  check_prints("synced", right, "ZHALO_EMULATED_ORDER=random");
  CHECK(right.find("nan") == std::string::npos);
  CHECK(run_planted("missing_sync").output != right);
}

TEST_CASE("shared memory of the block before is not left") {
  check_prints("stale_shared_memory", "sum -nan\n");
}

TEST_CASE("what lies behind the shared memory of a block is not touched") {
  check_stops("overrun_shared", "OverrunShared");
}

TEST_CASE("accesses outside of blocks") {
  check_prints("in_bounds", "copied\n");
  check_stops("read_behind", "CopyFrom");
  check_stops("read_before", "CopyFrom");
  check_stops("write_behind", "WriteTo");
}

TEST_CASE("memory that was freed") {
  check_stops("use_after_free", "WriteTo");
  check_stops("free_twice", "cudaFree at byte 0 of a freed block of 40 bytes of device 0");
  check_stops("leak", "1 blocks of memory of device 0 were never freed");
}

TEST_CASE("memory of the host or of another device") {
  check_stops("host_access", "the host reads at byte 12 of a block of 4000 bytes of device 0");
  if (ZHALO_ARGUMENTS_ARE_CHECKED == 1) {
    check_stops("host_pointer", "argument 1 at byte 0 is a pointer to memory of the host");
    check_stops("host_pointer", "WriteTo");
    check_stops("wrong_device", "memory of device 0 while device 1 is current",
                "ZHALO_EMULATED_DEVICES=2");
  }
  check_stops("wrong_device", "WriteTo", "ZHALO_EMULATED_DEVICES=2");
  check_stops("copy_on_wrong_device", "writes memory of device 0 while device 1 is current",
              "ZHALO_EMULATED_DEVICES=2");
}

TEST_CASE("a contract that a thread of a kernel breaks") {
  if (ZHALO_CHECKED == 0) return check_prints("break_contract", "written\n");
  check_stops("break_contract",
              "BreakContract), block 3, thread 3: contract violated: i >= 0 && i <");
}

TEST_CASE("a Buffer's end, where each is a block of its own") {
  check_prints("overrun_buffer", "written\n");
  check_stops("overrun_buffer", "WriteTo", "ZHALO_SEPARATE_BUFFERS=1");
}

TEST_CASE("an error that is dropped") {
  check_prints("drop_error", "waited\n");
  check_stops("drop_error", "the error cudaErrorIllegalAddress was returned and dropped",
              "ZHALO_EMULATED_FAIL=synchronise:1");
}

}  // namespace zhalo::testing
