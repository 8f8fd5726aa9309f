/// Memory that ranks share, in a process that gets signals, or has limits.
#include "src/comm/exchange.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>

namespace {

using namespace zhalo;

/// A signal each millisecond that is handled, as profilers send them.
class ManySignals {
 public:
  ManySignals() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before_);
    every({0, 1000});
  }
  ~ManySignals() {
    every({0, 0});
    sigaction(SIGALRM, &before_, nullptr);
  }
  ManySignals(const ManySignals&) = delete;
  ManySignals& operator=(const ManySignals&) = delete;

 private:
  static void every(timeval interval) {
    const itimerval timer{interval, interval};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  struct sigaction before_ {};
};

/// ulimit -f
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{std::min(bytes, before_.rlim_max), before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("shared memory: is reserved, whole and zero, while signals come") {
  constexpr Index bytes = (Index{40} << 20) + 5;  // no multiple of any page
  const ManySignals signals;
  const SharedMemory memory(Communicator{}, bytes);
  INFO(memory.why_not());
  REQUIRE(memory.is_there());
  const std::byte* const part = memory.part(0);
  CHECK(std::all_of(part, part + bytes, [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("shared memory: beyond the limit of files there is none, and the process lives on") {
  const FileLimit limit(1 << 20);
  const SharedMemory memory(Communicator{}, Index{1} << 21);
  CHECK_FALSE(memory.is_there());
  CHECK_THAT(memory.why_not(), Catch::Contains("1048576") && Catch::Contains("ulimit -f"));
  CHECK(SharedMemory(Communicator{}, Index{1} << 20).is_there());
}

TEST_CASE("shared memory: what MPI may still write to stays, all else is freed") {
  constexpr Index bytes = 4096;
  const auto is_mapped = [](void* part) {
    unsigned char page = 0;
    return mincore(part, bytes, &page) == 0;
  };
  for (const bool is_abandoned : {false, true}) {
    INFO(is_abandoned);
    std::byte* part = nullptr;
    {
      SharedMemory memory(Communicator{}, bytes);
      REQUIRE(memory.is_there());
      part = memory.part(0);
      if (is_abandoned) memory.abandon();
    }
    CHECK(is_mapped(part) == is_abandoned);
    if (is_abandoned) munmap(part, bytes);
  }
}
