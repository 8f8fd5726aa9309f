/// A rank that never comes: the others do not wait for ever.
#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/error.hpp"

TEST_CASE(
    "a wait that is too long is given up, with the operation's name; then nothing more is tried") {
  using namespace zhalo;
  const Communicator comm(MPI_COMM_WORLD, {.timeout_seconds = 0.3});
  if (comm.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return;
  }
  const auto work = [&] { comm.together([&] { comm.sum(Index{1}); }); };
  CHECK_THROWS_WITH(work(), Catch::Contains("before sum over ranks has waited for"));
  CHECK_THROWS_WITH(comm.barrier(), Catch::Contains("barrier") && Catch::Contains("given up"));
}

TEST_CASE("what one rank has to say is not lost when the others cannot be told") {
  using namespace zhalo;
  CommunicatorOptions options;
  options.timeout_seconds = 0.3;
  const Communicator comm(MPI_COMM_WORLD, options);
  if (comm.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return;
  }
  const auto work = [&] { comm.together([] { throw FileError("the disk is full"); }); };
  CHECK_THROWS_WITH(
      work(), Catch::Contains("has waited for other ranks") && Catch::Contains("the disk is full"));
  CHECK(comm.is_broken());
}

TEST_CASE("ranks that are all stopped for longer than the limit go on when they are continued") {
  using namespace zhalo;
  using std::chrono::milliseconds;
  const Communicator comm(MPI_COMM_WORLD, {.timeout_seconds = 5});
  comm.barrier();
  const std::string from_outside =
      fmt::format("(sleep 0.2; kill -STOP {0}; sleep 7; kill -CONT {0}) &", getpid());
  REQUIRE(std::system(from_outside.c_str()) == 0);
  if (comm.rank() == 1)
    for (int step = 0; step < 100; ++step) std::this_thread::sleep_for(milliseconds(10));
  CHECK_NOTHROW(comm.barrier());
}
