/// Where ranks compute: cores and devices of a machine are shared.
#include "zhalo/comm/context.hpp"

#include <catch2/catch.hpp>

#include "src/comm/state.hpp"
#include "tests/mpi/comm/failing_context.hpp"
#include "tests/support/omp_threads.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using testing::OmpThreads;

cpu_set_t cores(std::initializer_list<std::size_t> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t number : numbers) CPU_SET(number, &set);
  return set;
}

/// All ranks on the first core that the process may use, for the length of a test.
class BoundToOneCore {
 public:
  BoundToOneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    std::size_t first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    const cpu_set_t set = cores({first});
    sched_setaffinity(0, sizeof set, &set);
  }
  ~BoundToOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  BoundToOneCore(const BoundToOneCore&) = delete;
  BoundToOneCore& operator=(const BoundToOneCore&) = delete;

 private:
  cpu_set_t before_;
};

int threads_of(const Exec& exec) { return std::get<Host>(exec).threads; }

}  // namespace

TEST_CASE("cores count by the number of ranks that may use them") {
  const auto all = cores({0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(fair_threads_of(all, {all}) == 8);
  CHECK(fair_threads_of(all, {all, all}) == 4);
  CHECK(fair_threads_of(all, {all, all, all}) == 2);
  CHECK(fair_threads_of(all, std::vector<cpu_set_t>(8, all)) == 1);
  CHECK(fair_threads_of(all, std::vector<cpu_set_t>(100, all)) == 1);
  // Six thirds are two, although the sum of as many rounded numbers is less.
  const auto six = cores({0, 1, 2, 3, 4, 5});
  CHECK(fair_threads_of(six, std::vector<cpu_set_t>(3, six)) == 2);

  const auto low = cores({0, 1, 2, 3});
  const auto high = cores({4, 5, 6, 7});
  CHECK(fair_threads_of(low, {low, high}) == 4);
  CHECK(fair_threads_of(high, {low, high}) == 4);
  CHECK(fair_threads_of(low, {low, high, low, high}) == 2);
  CHECK(fair_threads_of(cores({1000}), {low, high, cores({1000})}) == 1);

  // Half of `all` is shared with `low`: 4 + 4 / 2.
  CHECK(fair_threads_of(all, {all, low}) == 6);
  CHECK(fair_threads_of(low, {all, low}) == 2);
}

TEST_CASE("ranks of one machine share its cores; what the user says wins") {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator machine = comm.split_by_machine();
  CHECK(machine.size() == comm.node_size());
  CHECK(machine.rank() == comm.node_rank());
  CHECK(comm.sum(Index{machine.rank() == 0 ? 1 : 0}) >= 1);

  const ExecRequest host{.processor = Processor::host};
  {
    const OmpThreads none(nullptr);
    const BoundToOneCore bound;
    CHECK(fair_threads(comm) == 1);
    CHECK(threads_of(choose_exec(comm, host)) == 1);
    CHECK(threads_of(choose_exec(comm, {.processor = Processor::host, .threads = 3})) == 3);
  }
  {
    const OmpThreads five("5,2");
    CHECK(threads_of(choose_exec(comm, host)) == 5);
    CHECK(threads_of(choose_exec(comm, {.processor = Processor::host, .threads = 4})) == 4);
    CHECK(threads_of(choose_exec(comm, {.processor = Processor::host, .threads = 0})) ==
          fair_threads(comm));
  }
  for (const char* text : {" 5", "5 ", "\t5 , 2"}) {
    const OmpThreads with_blanks(text);
    CHECK(threads_of(choose_exec(comm, host)) == 5);
  }
  const int available = available_threads();
  CHECK(machine.sum(Index{fair_threads(comm)}) <= std::max(available, machine.size()));
  CHECK(threads_of(choose_exec(comm, {.processor = Processor::host, .threads = 4096})) == 4096);
  CHECK_THROWS_AS(choose_exec(comm, {.processor = Processor::host, .threads = 4097}), InputError);
  const bool is_culprit = comm.rank() == 0;
  const Processor none = is_culprit ? static_cast<Processor>(3) : Processor::host;
  CHECK_THROWS_WITH(choose_exec(comm, {.processor = none}),
                    Catch::Contains("the processor is number 3, which is no enumerator"));
}

TEST_CASE("a rank that fails while the ranks of a machine divide its cores is an error of all") {
  testing::FailingContext failing;
  const auto work = [&] {
    return choose_exec(failing.context().comm, {.processor = Processor::host});
  };
  failing.counted(work);
  const int last_rank = failing.context().comm.size() - 1;
  const int last = failing.num_made_by(last_rank);
  CHECK(last > 2);
  failing.check_failures(last_rank, last, 1, work);
}

TEST_CASE("devices are taken in turn; one that is not there is an error of all ranks") {
  const Communicator comm(MPI_COMM_WORLD);
  const int devices = query_devices().num_devices;
  for (const Processor processor : {Processor::cuda, Processor::automatic})
    CHECK_THROWS_AS(choose_exec(comm, {.processor = processor, .device = devices}), DeviceError);
  CHECK_THROWS_AS(choose_exec(comm, {.processor = Processor::host, .device = 0}), InputError);
  const Exec exec = choose_exec(comm);
  REQUIRE(std::holds_alternative<Cuda>(exec) == (devices > 0));
  if (devices > 0) CHECK(std::get<Cuda>(exec).device == comm.node_rank() % devices);
  if (devices == 0) CHECK_THROWS_AS(choose_exec(comm, {.processor = Processor::cuda}), DeviceError);
}
