/// Exchanges of variable size, and errors that meet other ranks' collectives.
#include <mpi.h>
#include <catch2/catch.hpp>

#include <chrono>
#include <thread>

#include "src/comm/exchange.hpp"
#include "tests/support/random.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;

/// Element number i that rank `from` sends to rank `to`.
Index element(int from, int to, Index i) { return (Index{from} * 1000 + to) * 1000000 + i; }

struct Case {
  const char* name;
  Index (*count)(int from, int to, int size);
};

const Case cases[] = {
    {"nothing", [](int, int, int) { return Index{0}; }},
    {"equal", [](int, int, int) { return Index{7}; }},
    {"uneven", [](int from, int to, int) { return Index{(from * 5 + to * 3) % 11}; }},
    {"a ring",
     [](int from, int to, int size) { return to == (from + 1) % size ? Index{5000} : Index{0}; }},
    {"all to one", [](int from, int to,
                      int size) { return to == size - 1 ? Index{100 * (from + 1)} : Index{0}; }},
    {"one to all", [](int from, int to, int) { return from == 0 ? Index{3000 + to} : Index{0}; }},
};

void check_exchange(const Communicator& comm, const Case& which) {
  INFO(which.name);
  const Exec exec = host_exec(1);
  std::vector<Index> counts;
  std::vector<Index> send;
  std::vector<std::uint8_t> send_small;
  for (int to = 0; to < comm.size(); ++to) {
    counts.push_back(which.count(comm.rank(), to, comm.size()));
    for (Index i = 0; i < counts.back(); ++i) send.push_back(element(comm.rank(), to, i));
  }
  for (const Index value : send) send_small.push_back(static_cast<std::uint8_t>(value % 251));
  std::vector<Index> expected;
  for (int from = 0; from < comm.size(); ++from) {
    for (Index i = 0; i < which.count(from, comm.rank(), comm.size()); ++i)
      expected.push_back(element(from, comm.rank(), i));
  }
  const ExchangePlan plan = comm.plan_exchange(counts);
  REQUIRE(plan.num_sent() == static_cast<Index>(send.size()));
  REQUIRE(plan.num_received() == static_cast<Index>(expected.size()));
  std::vector<Index> received(expected.size() + 1, -1);
  std::vector<std::uint8_t> received_small(expected.size() + 1, 255);
  send.push_back(0);  // data() of nothing may be null
  send_small.push_back(0);
  comm.exchange(exec, plan,
                {{{send.data(), plan.num_sent(), sizeof(Index)}, received.data()},
                 {{send_small.data(), plan.num_sent(), 1}, received_small.data()}});
  CHECK(received.back() == -1);
  CHECK(received_small.back() == 255);
  received.pop_back();
  CHECK(received == expected);
  bool alike = true;
  for (std::size_t i = 0; i < expected.size(); ++i)
    alike = alike && received_small[i] == expected[i] % 251;
  CHECK(alike);

  std::vector<Index> back(send.size(), -1);
  received.push_back(0);
  comm.exchange(exec, plan.reversed(), {{column_view(received), back.data()}});
  back.back() = send.back();
  CHECK(back == send);

  // What a rank has for itself stays where it is.
  std::vector<Index> of_others(expected.size() + 1, -1);
  comm.exchange(exec, plan, {{column_view(send), of_others.data(), true}});
  of_others.pop_back();
  const auto me = static_cast<std::size_t>(comm.rank());
  std::fill(expected.begin() + plan.receive_offset[me],
            expected.begin() + plan.receive_offset[me + 1], Index{-1});
  CHECK(of_others == expected);
}

int num_splits = 0;

}  // namespace

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                   MPI_Comm* part) {
  ++num_splits;
  return PMPI_Comm_split_type(comm, type, key, info, part);
}

TEST_CASE("shared memory: the ranks of a machine are found once") {
  const Communicator comm(MPI_COMM_WORLD);
  const SharedMemory first(comm, 100);
  const int before = num_splits;
  REQUIRE(before > 0);
  for (const Index bytes : {1, 5000}) {
    const SharedMemory memory(comm, bytes);
    CHECK(memory.is_there());
    std::byte* const own = memory.part(comm.rank());
    own[0] = static_cast<std::byte>(comm.rank() + 1);
    comm.barrier();
    for (int rank = 0; rank < comm.size(); ++rank)
      CHECK(memory.part(rank)[0] == static_cast<std::byte>(rank + 1));
    comm.barrier();
  }
  CHECK(num_splits == before);
}

TEST_CASE("exchange: every element arrives where it should, and goes back") {
  CommunicatorOptions options;
  SECTION("as it is") {}
  SECTION("in short messages") { options.chunk_bytes = 1000; }
  SECTION("one byte at a time") { options.chunk_bytes = 1; }
  SECTION("staged") { options.transport = Transport::staged; }
  SECTION("staged in short messages") {
    options.transport = Transport::staged;
    options.chunk_bytes = 56;
  }
  const Communicator comm(MPI_COMM_WORLD, options);
  for (const Case& which : cases) {
    if (options.chunk_bytes == 1 && which.count(0, 1, 2) > 100) continue;
    check_exchange(comm, which);
  }
}

TEST_CASE("exchange: ranks may be given limits of messages that differ") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Communicator comm(MPI_COMM_WORLD, {.timeout_seconds = 20, .chunk_bytes = 40 + 24 * rank});
  for (const Case& which : cases) check_exchange(comm, which);
}

TEST_CASE("a transport that is no enumerator is an error on all ranks") {
  const Communicator world(MPI_COMM_WORLD);
  const auto none = world.rank() == 0 ? static_cast<Transport>(4) : Transport::staged;
  const auto contains = Catch::Contains("the transport is number 4, which is no enumerator");
  CHECK_THROWS_WITH(Communicator(MPI_COMM_WORLD, {.transport = none}), contains);
  CHECK_THROWS_WITH(world.use_transport(none), contains);
  world.barrier();
}

TEST_CASE("exchange: plans and arrays that do not fit are errors") {
  const Communicator comm(MPI_COMM_WORLD);
  const auto error_of = [&](const auto& work) {
    std::string message = "nothing was thrown";
    try {
      comm.together(work);
    } catch (const InputError& error) {
      message = error.what();
    }
    return message;
  };
  const bool is_last = comm.rank() == comm.size() - 1;
  const auto num_ranks = static_cast<std::size_t>(comm.size());
  const std::vector<Index> few(is_last ? num_ranks - 1 : num_ranks, 1);
  const std::vector<Index> negative(num_ranks, is_last ? -1 : 0);
  CHECK_THAT(error_of([&] { comm.plan_exchange(few); }),
             Catch::Contains("counts of an exchange are given for"));
  CHECK_THAT(error_of([&] { comm.plan_exchange(negative); }),
             Catch::Contains("-1 elements are to be sent"));
  const ExchangePlan plan = comm.plan_exchange(std::vector<Index>(num_ranks, 1));
  std::vector<Index> send(num_ranks), receive(num_ranks + 1);
  const Exec exec = host_exec(1);
  const Span<const Index> all(send);
  CHECK_THAT(error_of([&] {
               const Index room = comm.size() + (is_last ? 1 : 0);
               comm.exchange(exec, plan, all, Span<Index>(receive.data(), room));
             }),
             Catch::Contains("elements are given to an exchange"));
  CHECK_THAT(
      error_of([&] {
        comm.exchange(exec, is_last ? ExchangePlan{} : plan, {{column_view(all), receive.data()}});
      }),
      Catch::Contains("has 0 and 0 offsets"));
  CHECK_THAT(error_of([&] {
               const Index num = comm.size() - (is_last ? 1 : 0);
               comm.exchange(exec, plan, {{{send.data(), num, sizeof(Index)}, receive.data()}});
             }),
             Catch::Contains("fewer elements than are sent"));
  comm.exchange(exec, plan, all, Span<Index>(receive.data(), comm.size()));
}

TEST_CASE("exchange: counts what it sends to others") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<Index> counts(static_cast<std::size_t>(comm.size()), 3);
  const ExchangePlan plan = comm.plan_exchange(counts);
  const std::vector<double> send(counts.size() * 3, 1.5);
  std::vector<double> received(counts.size() * 3);
  comm.exchange(host_exec(1), plan, Span<const double>(send), Span<double>(received));
  CHECK(comm.bytes_sent() == 24 * (comm.size() - 1));
  CHECK(received == send);
}

TEST_CASE("exchange: messages of the caller that wait for anyone get none of ours") {
  const Communicator comm(MPI_COMM_WORLD, {.chunk_bytes = 64});
  int caught = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  for (const Case& which : cases) check_exchange(comm, which);
  int arrived = 0;
  MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
  CHECK(arrived == 0);
  const int value = 40 + comm.rank();
  MPI_Send(&value, 1, MPI_INT, comm.rank(), 7, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(caught == value);
}

TEST_CASE("a rank that throws meets the others in whatever collective they are") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<Index> counts(static_cast<std::size_t>(comm.size()), 1);
  const auto all_steps = [&](int culprit, int step_of_failure) {
    int step = 0;
    const auto maybe = [&] {
      if (comm.rank() == culprit && step == step_of_failure)
        throw OutOfMemory("no room at step " + std::to_string(step));
      ++step;
    };
    maybe();
    comm.barrier();
    maybe();
    comm.sum(Index{1});
    maybe();
    comm.together([&] {
      maybe();
      comm.plan_exchange(counts);
      maybe();
    });
    comm.all_gather(comm.rank());
    maybe();
    std::vector<Index> values(10);
    comm.exclusive_sum_in_place(values);
    maybe();
    comm.broadcast("text");
    maybe();
  };
  constexpr int num_steps = 8;
  for (int culprit = 0; culprit < comm.size(); ++culprit) {
    for (int step = 0; step < num_steps; ++step) {
      std::string message;
      try {
        comm.together([&] { all_steps(culprit, step); });
      } catch (const OutOfMemory& error) {
        message = error.what();
      }
      const std::string expected = "no room at step " + std::to_string(step);
      CHECK(message ==
            (comm.size() > 1 ? "rank " + std::to_string(culprit) + ": " + expected : expected));
      CHECK(comm.sum(Index{1}) == comm.size());
    }
  }
}

TEST_CASE("an observer delays or stops any collective") {
  CommunicatorOptions options;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::Random random(static_cast<std::uint64_t>(rank) + 1);
  int calls = 0;
  int stop_at = -1;
  options.observer = [&](const char*) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(2000)));
    if (++calls == stop_at) throw Interrupted("stopped");
  };
  const Communicator comm(MPI_COMM_WORLD, options);
  for (const Case& which : cases) check_exchange(comm, which);
  calls = 0;
  stop_at = rank == comm.size() - 1 ? 3 : -1;
  const auto work = [&] {
    for (int i = 0; i < 5; ++i) comm.sum(Index{1});
  };
  CHECK_THROWS_AS(comm.together(work), Interrupted);
  stop_at = -1;
  CHECK(comm.sum(Index{1}) == comm.size());
}

TEST_CASE("a part of the ranks works alone") {
  const Communicator world(MPI_COMM_WORLD);
  const Communicator half = world.split(world.rank() % 2);
  CHECK(half.size() == (world.size() + 1 - world.rank() % 2) / 2);
  CHECK(half.rank() == world.rank() / 2);
  for (const Case& which : cases) check_exchange(half, which);
  CHECK(world.node_size() == world.size());
  CHECK(world.node_rank() == world.rank());
}

TEST_CASE("shares and their owners") {
  for (const Index total : {0, 1, 2, 7, 100}) {
    for (const int size : {1, 2, 3, 8, 150}) {
      Index next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = share_of(total, rank, size);
        CHECK(share.first == next);
        for (Index i = share.first; i < share.first + share.count; ++i)
          CHECK(owner_of(i, total, size) == rank);
        next += share.count;
      }
      CHECK(next == total);
    }
  }
}
