/// Ranks that are threads of this process: each work runs on all of them at once.
#include "zhalo/comm/threads.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/same_on_ranks.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

constexpr int numbers_of_ranks[] = {1, 2, 3, 4, 12};

using Work = std::function<void(Context&)>;

/// What it throws, in words; "none" if nothing.
std::string message_of(int num_ranks, const Work& work, const CommunicatorOptions& options = {}) {
  try {
    run_on_threads(num_ranks, work, options);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

void check_collectives(const Communicator& comm) {
  const Index rank = comm.rank();
  const Index size = comm.size();
  need(comm.node_rank() == rank && comm.node_size() == size, "all are on this machine");
  need(comm.is_of_threads(), "they are threads");
  need(comm.sum(rank + 1) == size * (size + 1) / 2, "sum");
  need(comm.sum(static_cast<double>(rank) + 0.5) == static_cast<double>(size * size) / 2,
       "sum of floating numbers");
  need(comm.min(10 - rank) == 10 - (size - 1), "min");
  need(comm.max(10 * rank) == 10 * (size - 1), "max");
  need(comm.max(-static_cast<double>(rank)) == 0, "max of floating numbers");
  need(comm.exclusive_sum(rank + 1) == rank * (rank + 1) / 2, "exclusive sum");
  std::vector<Index> values(3000, rank);
  comm.sum_in_place(values);
  need(values == std::vector<Index>(3000, size * (size - 1) / 2), "sums of arrays");
  const std::vector<Index> all = comm.all_gather(7 * rank);
  for (Index r = 0; r < size; ++r) need(all[static_cast<std::size_t>(r)] == 7 * r, "all_gather");
  for (int root = 0; root < comm.size(); ++root) {
    const std::string own = rank == root ? "from " + std::to_string(root) : std::string(99, 'x');
    need(comm.broadcast(own, root) == "from " + std::to_string(root), "broadcast");
  }
  comm.barrier();
}

/// Element number i that rank `from` sends to rank `to`.
Index element(int from, int to, Index i) { return (Index{from} * 1000 + to) * 1000000 + i; }

/// `count(from, to, size)`: how many elements travel.
template <class Count>
void check_exchange(const Context& context, const Count& count) {
  const Communicator& comm = context.comm;
  std::vector<Index> counts;
  std::vector<Index> values;
  std::vector<Index> expected;
  for (int r = 0; r < comm.size(); ++r) {
    counts.push_back(count(comm.rank(), r, comm.size()));
    for (Index i = 0; i < counts.back(); ++i) values.push_back(element(comm.rank(), r, i));
    for (Index i = 0; i < count(r, comm.rank(), comm.size()); ++i)
      expected.push_back(element(r, comm.rank(), i));
  }
  const ExchangePlan plan = comm.plan_exchange(counts);
  std::vector<Index> received(static_cast<std::size_t>(plan.num_received()));
  comm.exchange(context.exec, plan, Span<const Index>(values), Span<Index>(received));
  need(received == expected, "what is received is what was sent");
  std::vector<Index> back(values.size());
  comm.exchange(context.exec, plan.reversed(), Span<const Index>(received), Span<Index>(back));
  need(back == values, "and comes back");
}

void check_exchanges(const Context& context) {
  check_exchange(context, [](int, int, int) { return Index{0}; });
  check_exchange(context, [](int from, int to, int) { return Index{(from * 5 + to * 3) % 11}; });
  for (const Index num : {5000, 3, 4000}) {  // with few others, again and again
    check_exchange(context, [num](int from, int to, int size) {
      return to == (from + 1) % size ? num + from : Index{0};
    });
  }
  check_exchange(context,
                 [](int from, int to, int) { return from == 0 ? Index{3000 + to} : Index{0}; });
}

}  // namespace

TEST_CASE("threads: numbers, sums and texts over the ranks") {
  for (const int num : numbers_of_ranks) {
    std::vector<int> runs(static_cast<std::size_t>(num));
    run_on_threads(num, [&](Context& context) {
      need(context.comm.size() == num, "as many ranks as threads");
      ++runs[static_cast<std::size_t>(context.comm.rank())];
      check_collectives(context.comm);
    });
    CHECK(runs == std::vector<int>(static_cast<std::size_t>(num), 1));
  }
}

TEST_CASE("threads: arrays travel, in long and short messages, directly and staged") {
  CommunicatorOptions options;
  options.transport = GENERATE(Transport::automatic, Transport::staged);
  options.chunk_bytes = GENERATE(Index{1000}, Index{1} << 20);
  for (const int num : numbers_of_ranks) run_on_threads(num, check_exchanges, options);
}

TEST_CASE("threads: parts of the ranks, and parts of parts") {
  run_on_threads(7, [](Context& context) {
    const Communicator& world = context.comm;
    const Communicator part = world.split(world.rank() % 2);
    need(part.size() == (world.rank() % 2 == 0 ? 4 : 3), "size of a part");
    need(part.rank() == world.rank() / 2, "the ranks keep their order");
    check_collectives(part);
    const Communicator single = part.split(part.rank());
    check_collectives(single);
    check_collectives(world.split_by_machine());
    need(world.split_by_machine().size() == 7, "one machine");
    check_exchanges({.comm = world.split(world.rank() < 3 ? 5 : 1), .exec = context.exec});
    check_collectives(world);
  });
}

TEST_CASE("threads: the ranks divide the cores") {
  for (const int num : {1, 3}) {
    run_on_threads(num, [&](Context& context) {
      const int threads = std::get<Host>(context.exec).threads;
      need(threads == std::max(1, available_threads() / num), "a fair share of the cores");
    });
  }
}

TEST_CASE("threads: what fails on one of them becomes the same error on all, and of the caller") {
  for (int culprit = 0; culprit < 3; ++culprit) {
    const std::string expected = "rank " + std::to_string(culprit) + ": cannot read a file";
    std::atomic<int> num_alike = 0;
    const auto work = [&](Context& context) {
      try {
        context.comm.together([&] {
          if (context.comm.rank() == culprit) throw FileError("cannot read a file");
          context.comm.barrier();
        });
      } catch (const FileError& error) {
        if (error.what() == expected) ++num_alike;
      }
      check_collectives(context.comm);  // it works afterwards
      if (context.comm.rank() == culprit) throw FileError("cannot read a file");
      context.comm.sum(Index{1});
    };
    CHECK_THROWS_AS(run_on_threads(3, work), FileError);
    CHECK(num_alike == 3);
    num_alike = 0;
    CHECK(message_of(3, work) == expected);
  }
  CHECK(message_of(4, [](Context&) { throw OutOfMemory("all fail alike"); }) == "all fail alike");
  CHECK_THROWS_AS(run_on_threads(2, [](Context&) { throw std::bad_alloc(); }), OutOfMemory);
}

TEST_CASE("threads: an error in a part names the rank by its number among all") {
  const std::string message = message_of(5, [](Context& context) {
    const Communicator part = context.comm.split(context.comm.rank() == 0 ? 0 : 1);
    part.together([&] {
      if (context.comm.rank() == 4) throw InputError("nothing to read");
    });
  });
  CHECK(message == "rank 4: nothing to read");
}

TEST_CASE("threads: an observer stops all ranks") {
  CommunicatorOptions options;
  std::atomic<int> num_calls = 0;
  options.observer = [&](const char*) {
    if (++num_calls == 40) throw Interrupted("stopped");
  };
  const auto work = [](Context& context) {
    while (true) context.comm.barrier();
  };
  CHECK_THROWS_AS(run_on_threads(3, work, options), Interrupted);
}

TEST_CASE("threads: one that hangs is an error of the others, and of the caller") {
  struct Shared {  // the thread that hangs outlives this test case
    std::atomic<bool> may_end = false;
    std::atomic<int> num_told = 0;
    std::atomic<bool> has_ended = false;
  };
  const auto shared = std::make_shared<Shared>();
  const auto work = [shared](Context& context) {
    if (context.comm.rank() == 1) {
      while (!shared->may_end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      shared->has_ended = true;
    }
    try {
      context.comm.sum(Index{1});
    } catch (const CommunicationError&) {
      ++shared->num_told;
      throw;
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::string message;
  try {
    run_on_threads(4, work, {.timeout_seconds = 0.3});
  } catch (const CommunicationError& error) {
    message = error.what();
  }
  const auto taken = std::chrono::steady_clock::now() - begin;
  CHECK_THAT(message, Contains("the thread of rank 1 hangs and is left behind"));
  CHECK_THAT(message, Contains("has waited for other ranks for 0.3 s"));
  CHECK(shared->num_told == 3);
  CHECK(taken < std::chrono::seconds(30));
  shared->may_end = true;
  while (shared->num_told < 4) std::this_thread::yield();
  CHECK(shared->has_ended);
}

TEST_CASE("threads: a part hears that ranks outside it have given up") {
  struct Shared {  // the thread that hangs outlives this test case
    std::atomic<bool> may_end = false;
    std::atomic<bool> is_given_up = false;
  };
  const auto shared = std::make_shared<Shared>();
  const auto wait_for = [](const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  const auto work = [shared, wait_for](Context& context) {
    const int rank = context.comm.rank();
    const Communicator part = context.comm.split(rank / 2);
    if (rank == 3) return wait_for(shared->may_end);
    if (rank == 2) {
      wait_for(shared->is_given_up);
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      return part.barrier();  // its own wait would be over after that of the caller for its thread
    }
    try {
      context.comm.barrier();
    } catch (const CommunicationError&) {
      shared->is_given_up = true;
      throw;
    }
  };
  CHECK_THAT(message_of(4, work, {.timeout_seconds = 2}),
             Contains("the thread of rank 3 hangs and is left behind"));
  shared->may_end = true;
}

TEST_CASE("threads: what is no exception of the standard library ends no process") {
  const auto work = [](Context& context) {
    if (context.comm.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1800));
    try {
      context.comm.barrier();
    } catch (const CommunicationError&) {
      if (context.comm.rank() == 0) throw 42;
      throw;
    }
  };
  CHECK(message_of(2, work, {.timeout_seconds = 1.5}) == "unknown exception");
}

TEST_CASE("threads: one that comes too late hears that it was given up, and ends") {
  const auto work = [](Context& context) {
    if (context.comm.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1800));
    check_exchanges(context);
  };
  const std::string message = message_of(3, work, {.timeout_seconds = 1.5});
  CHECK_THAT(message, Contains("has waited for other ranks for 1.5 s"));
  CHECK_THAT(message, !Contains("left behind"));
}

TEST_CASE("threads: what one has to say is not lost when the others cannot be told") {
  const auto work = [](Context& context) {
    if (context.comm.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1800));
      throw FileError("the disk is full");
    }
    context.comm.barrier();
  };
  CHECK_THAT(message_of(2, work, {.timeout_seconds = 1.5}),
             Contains("has waited for other ranks") && Contains("the disk is full"));
}

TEST_CASE("threads: ranks in different operations are told so") {
  const CommunicatorOptions options{.timeout_seconds = 20};
  const auto check = [&](const Work& even, const Work& odd) {
    const auto work = [&](Context& context) {
      context.comm.rank() % 2 == 0 ? even(context) : odd(context);
      context.comm.barrier();
    };
    CHECK_THAT(message_of(3, work, options), Contains("ranks are in different operations"));
  };
  const Work wait = [](Context& context) { context.comm.barrier(); };
  const Work sum = [](Context& context) { context.comm.sum(Index{1}); };
  const Work send = [](Context& context) { context.comm.broadcast("text"); };
  const Work sums = [](Context& context) {
    std::vector<Index> values(2);
    context.comm.sum_in_place(values);
  };
  for (const Work& other : {sum, sums, send}) {
    check(wait, other);
    check(other, wait);
  }
  check(sum, sums);
}

TEST_CASE("threads: a receiver that leaves an exchange is an error of its sender") {
  const auto work = [](Context& context) {
    const Communicator& comm = context.comm;
    std::vector<Index> counts(2, 1000);
    const ExchangePlan plan = comm.plan_exchange(counts);
    std::vector<Index> sent(2000, 1);
    std::vector<Index> received(2000);
    for (int again = 0; again < 1000; ++again) {
      if (comm.rank() == 1 && again == 3) throw InputError("no more");
      comm.exchange(context.exec, plan, Span<const Index>(sent), Span<Index>(received));
    }
  };
  CHECK(message_of(2, work) == "rank 1: no more");
}

TEST_CASE("threads: a message of another length than is expected is an error of all") {
  for (const Index expected : {2, 4}) {
    const auto work = [&](Context& context) {
      const bool sends = context.comm.rank() == 0;
      ExchangePlan plan{{0, 0, 0}, {0, 0, 0}};
      if (sends) plan.send_offset = {0, 0, 3};
      if (!sends) plan.receive_offset = {0, expected, expected};
      const std::vector<Index> sent(3, 1);
      std::vector<Index> received(4);
      context.comm.exchange(context.exec, plan, Span<const Index>(sent.data(), plan.num_sent()),
                            Span<Index>(received.data(), plan.num_received()));
      context.comm.barrier();
    };
    CHECK_THAT(
        message_of(2, work, {.timeout_seconds = 20}),
        Contains("rank 0 sends 24 bytes where " + std::to_string(8 * expected) + " are received"));
  }
}

TEST_CASE("threads: what makes no sense is refused") {
  const Work nothing = [](Context&) {};
  CHECK_THROWS_AS(run_on_threads(0, nothing), InputError);
  CHECK_THROWS_AS(run_on_threads(1025, nothing), InputError);
  CHECK_THROWS_AS(run_on_devices({}, nothing), InputError);
  CHECK_THROWS_AS(run_on_devices({99}, nothing), DeviceError);
  CHECK_THROWS_AS(run_on_threads(2, nothing, {.chunk_bytes = 0}), InputError);
}

TEST_CASE("threads: groups, neighbours and fields are those of one rank") {
  const PointSet<float> points = points_of_analysis();
  Context alone;
  alone.exec = host_exec(1);
  const Analysed whole = analyse(alone, points, {0, points.num()});
  for (const int num : {1, 2, 4})
    run_on_threads(num, [&](Context& context) { check_analysis(context, points, whole); });
}
