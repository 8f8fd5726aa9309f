/// A Communicator of one rank, in a program that never calls MPI_Init.
#include <catch2/catch.hpp>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/domain/particles.hpp"

namespace {

using namespace zhalo;
using Catch::Contains;

}  // namespace

TEST_CASE("one rank without MPI: every operation is the identity") {
  const Communicator comm;
  CHECK(comm.rank() == 0);
  CHECK(comm.size() == 1);
  CHECK_NOTHROW(comm.barrier());
  CHECK(comm.sum(Index{5}) == 5);
  CHECK(comm.sum(0.5) == 0.5);
  CHECK(comm.min(Index{-5}) == -5);
  CHECK(comm.min(-0.5) == -0.5);
  CHECK(comm.max(Index{7}) == 7);
  CHECK(comm.max(0.7) == 0.7);
  CHECK(comm.exclusive_sum(9) == 0);
  CHECK(comm.broadcast("text") == "text");
  std::vector<Index> values{1, 2, 3};
  comm.sum_in_place(values);
  CHECK(values == std::vector<Index>{1, 2, 3});
  const GlobalRange range = global_range(comm, 42);
  CHECK(range.first == 0);
  CHECK(range.total == 42);
}

TEST_CASE("transports have the words of the command line, and no others") {
  CHECK(parse_transport("auto") == Transport::automatic);
  CHECK(parse_transport("nccl") == Transport::nccl);
  CHECK(parse_transport("gpu-aware") == Transport::gpu_aware);
  CHECK(parse_transport("staged") == Transport::staged);
  for (const char* word : {"", "NCCL", "gpu_aware", "automatic"})
    CHECK_THROWS_WITH(parse_transport(word), Contains("'" + std::string(word) + "'") &&
                                                 Contains("auto, nccl, gpu-aware or staged"));
}

TEST_CASE("one rank without MPI: no other rank, and no negative colour") {
  const Communicator comm;
  CHECK(comm.split(3).size() == 1);
  CHECK_THROWS_WITH(comm.split(-1), Contains("colour") && Contains("-1"));
  for (const int root : {-1, 1})
    CHECK_THROWS_WITH(comm.broadcast("text", root), Contains("ranks 0 to 0"));
}

TEST_CASE("one rank without MPI: moves") {
  Communicator a;
  Communicator b(std::move(a));
  CHECK(b.size() == 1);
  a = std::move(b);
  CHECK(a.size() == 1);
  CHECK(a.sum(Index{3}) == 3);
}

TEST_CASE("one rank: errors keep type and message, without a rank's number") {
  const Communicator comm;
  CHECK_NOTHROW(comm.together([] {}));
  CHECK_THROWS_AS(comm.together([] { throw InputError("a"); }), InputError);
  CHECK_THROWS_WITH(comm.together([] { throw InputError("bad value"); }), "bad value");
  CHECK_THROWS_AS(comm.together([] { throw FileError("a"); }), FileError);
  CHECK_THROWS_AS(comm.together([] { throw OutOfMemory("a"); }), OutOfMemory);
  CHECK_THROWS_AS(comm.together([] { throw DeviceError("a"); }), DeviceError);
  CHECK_THROWS_AS(comm.together([] { throw CommunicationError("a"); }), CommunicationError);
  CHECK_THROWS_AS(comm.together([] { throw ContractViolation("a"); }), ContractViolation);
  CHECK_THROWS_AS(comm.together([] { throw std::bad_alloc(); }), OutOfMemory);
  CHECK_THROWS_AS(comm.together([] { throw std::logic_error("odd"); }), Error);
  CHECK_THROWS_WITH(comm.together([] { throw std::logic_error("odd"); }), "odd");
  CHECK_THROWS_AS(comm.together([] { throw 5; }), Error);
}

TEST_CASE("a communicator of MPI needs MPI") {
  CHECK_THROWS_AS(Communicator(MPI_COMM_WORLD), InputError);
  CHECK_THROWS_WITH(Communicator(MPI_COMM_WORLD),
                    Contains("not initialised") && Contains("MPI_Init"));
}

TEST_CASE("share_of: contiguous, complete, as even as can be") {
  for (const Index total :
       {Index{0}, Index{1}, Index{7}, Index{64}, Index{1'000'000'000'000'007}}) {
    for (const int size : {1, 2, 3, 5, 64, 1000}) {
      Index next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = share_of(total, rank, size);
        REQUIRE(share.first == next);
        REQUIRE(share.count >= total / size);
        REQUIRE(share.count <= total / size + 1);
        next += share.count;
      }
      REQUIRE(next == total);
    }
  }
}

TEST_CASE("a Context can be used as it is") {
  const Context context;
  CHECK(context.comm.size() == 1);
  CHECK(std::get<Host>(context.exec).threads == available_threads());
  CHECK(context.timers == nullptr);
}
