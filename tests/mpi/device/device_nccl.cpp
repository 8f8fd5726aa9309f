/// Messages between emulated devices by what stands in for NCCL: right ones, and what happens when
/// it fails. Each rank has a device of its own.
#include <cstdlib>
#include <optional>
#include <string>

#include "kernels/memory.hpp"
#include "tests/mpi/device/device_groups.hpp"
#include "tests/mpi/fft/fft_case.hpp"
#include "tests/support/nccl_fault.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

Context on_own_device(double timeout_seconds = 60) {
  Context context;
  REQUIRE(find_device(context, {.timeout_seconds = timeout_seconds}));
  return context;
}

/// A transform of several exchanges, in parts.
void check_transform(const Context& context) {
  const Signals signals({{12, 10, 14}}, Signals::Kind::real);
  FftRun<double> run(context, Decomposition(Grid{signals.num()}, context.comm.size(), {}),
                     {.chunk_bytes = 2000});
  check_transforms(run, signals);
}

}  // namespace

TEST_CASE("nccl: it is chosen where each rank has a device") {
  const Context context = on_own_device();
  CHECK(context.comm.choose_transport(context.exec) == Transport::nccl);
  CHECK(context.comm.describe_transport(context.exec) == "NCCL 2.21.5");
  const Index before = context.comm.bytes_sent();
  check_groups(context);
  check_transform(context);
  CHECK(context.comm.choose_transport(context.exec) == Transport::nccl);
  CHECK(context.comm.sum(context.comm.bytes_sent()) > context.comm.sum(before));
}

TEST_CASE("nccl: parts of a communicator have links of their own") {
  const Context world = on_own_device();
  check_groups(world);
  Context part{.comm = world.comm.split(world.comm.rank() % 2), .exec = world.exec};
  check_groups(part);
  check_groups(world);
  CHECK((part.comm.choose_transport(part.exec) == Transport::nccl) == (part.comm.size() > 1));
}

TEST_CASE("nccl: ranks that share a device, and ranks on the host") {
  Context context = on_own_device();
  std::string reason = "ranks 0 and 1 share a device";
  SECTION("share") { context.exec = cuda_exec(0); }
  SECTION("host") {
    if (context.comm.rank() == 1) context.exec = host_exec(1);
    reason = "rank 1 does not compute on a device";
  }
  CHECK(context.comm.choose_transport(context.exec) == Transport::staged);
  CHECK(context.comm.describe_transport(context.exec) ==
        "staged through host memory (no NCCL: " + reason + ")");
  check_groups(context);
  context.comm.use_transport(Transport::nccl);
  CHECK_THROWS_WITH(context.comm.choose_transport(context.exec),
                    "messages cannot go by NCCL: " + reason +
                        "; choose another transport, or leave the choice to zhalo");
}

TEST_CASE("nccl: a rank that computes elsewhere for once") {
  const Context context = on_own_device();
  REQUIRE(context.comm.choose_transport(context.exec) == Transport::nccl);
  const Exec exec = context.comm.rank() == 0 ? host_exec(1) : context.exec;
  const std::vector<Index> counts(static_cast<std::size_t>(context.comm.size()), 1);
  const ExchangePlan plan = context.comm.plan_exchange(counts);
  const Buffer<Index> send =
      upload(exec, std::vector<Index>(counts.size(), context.comm.rank() + 7));
  Buffer<Index> received(exec, plan.num_received(), "test");
  context.comm.exchange(exec, plan, send.span(), received.span());
  for (int r = 0; r < context.comm.size(); ++r)
    CHECK(to_host(exec, received)[static_cast<std::size_t>(r)] == r + 7);
  CHECK(context.comm.choose_transport(context.exec) == Transport::nccl);
}

TEST_CASE("nccl: where no links can be made, messages go by MPI") {
  const char* text = GENERATE("identifier:0", "refuse:1", "absent:0", "error:0:1", "hang:1:1");
  const Fault fault(text);
  const Context context = on_own_device(2);
  CHECK(context.comm.choose_transport(context.exec) == Transport::staged);
  check_groups(context);
  check_transform(context);
  CHECK_FALSE(context.comm.is_broken());
}

TEST_CASE("nccl: an exchange that fails is made again by MPI") {
  // The first group is the probe.
  const char* text = GENERATE("send:1:2", "error:1:2", "error:0:3", "hang:1:2", "hang:0:4");
  const Fault fault(text);
  const Context context = on_own_device(2);
  REQUIRE(context.comm.choose_transport(context.exec) == Transport::nccl);
  check_groups(context);
  CHECK(context.comm.choose_transport(context.exec) == Transport::staged);
  const std::string text_of_transport = context.comm.describe_transport(context.exec);
  CHECK(text_of_transport.find("no NCCL: rank ") != std::string::npos);
  CHECK_FALSE(context.comm.is_broken());
}

TEST_CASE("nccl: a device that goes on after NCCL was given up is one error on all ranks") {
  std::optional<Fault> fault;
  fault.emplace("stuck:1:2");
  const Context context = on_own_device(4);
  REQUIRE(context.comm.choose_transport(context.exec) == Transport::nccl);
  const std::size_t in_use = memory(context.exec)->bytes_in_use();
  std::string message;
  try {
    check_groups(context);
  } catch (const CommunicationError& error) {
    message = error.what();
  }
  // What the device may still write into is not used again.
  CHECK((memory(context.exec)->bytes_in_use() > in_use) == (context.comm.rank() == 1));
  CHECK(message.find("the device of rank 1 was still at work 2 s later") != std::string::npos);
  const std::vector<std::size_t> lengths = context.comm.all_gather(message.size());
  CHECK(std::count(lengths.begin(), lengths.end(), message.size()) == context.comm.size());
  CHECK_FALSE(context.comm.is_broken());
  fault.reset();  // the device is free again
  CHECK(context.comm.choose_transport(context.exec) == Transport::staged);
  check_groups(context);
}

TEST_CASE("nccl: a transform that fails is one error on all ranks, and the next one goes by MPI") {
  const char* text = GENERATE("send:0:2", "error:1:2", "error:0:3", "hang:1:3");
  const Fault fault(text);
  const Context context = on_own_device(2);
  const Signals signals({{12, 10, 14}}, Signals::Kind::real);
  FftRun<double> run(context, Decomposition(Grid{signals.num()}, context.comm.size(), {}),
                     {.chunk_bytes = 2000});
  const Buffer<double> cells(context.exec, run.fft().cells().size, "test");
  Buffer<std::complex<double>> modes(context.exec, run.fft().modes().size, "test");
  std::string message;
  try {
    run.fft().forward(cells.span(), modes.span());
  } catch (const CommunicationError& error) {
    message = error.what();
  }
  CHECK(message.find("messages between devices failed (rank ") != std::string::npos);
  const std::vector<std::size_t> lengths = context.comm.all_gather(message.size());
  CHECK(std::count(lengths.begin(), lengths.end(), message.size()) == context.comm.size());
  CHECK_FALSE(context.comm.is_broken());
  check_transform(context);
}

TEST_CASE("nccl: a library that is not there, or too old", "[.][library]") {
  const Context context = on_own_device();
  CHECK(context.comm.choose_transport(context.exec) == Transport::staged);
  const std::string text = context.comm.describe_transport(context.exec);
  CHECK(text.find("staged through host memory (no NCCL: rank 0: ") == 0);
  const bool is_there = std::getenv("ZHALO_NCCL_VERSION") != nullptr;
  const char* reason =
      is_there ? "is NCCL 2.17.99 (must be 2.18 or newer)" : "NCCL is not found (libnowhere.so: ";
  CHECK(text.find(reason) != std::string::npos);
  check_groups(context);
}

namespace {

/// Rank r sends one number to each higher rank but the last, which gets and sends nothing.
void check_without_last(const Context& context, const Exec& exec) {
  const int size = context.comm.size();
  const int rank = context.comm.rank();
  std::vector<Index> counts(static_cast<std::size_t>(size));
  for (int to = rank; to < size - 1; ++to) counts[static_cast<std::size_t>(to)] = 1;
  const ExchangePlan plan = context.comm.plan_exchange(counts);
  const Buffer<Index> send =
      upload(exec, std::vector<Index>(static_cast<std::size_t>(plan.num_sent()), rank + 7));
  Buffer<Index> received(exec, plan.num_received(), "test");
  context.comm.exchange(exec, plan, send.span(), received.span());
  std::vector<Index> expected;
  for (int from = 0; rank < size - 1 && from <= rank; ++from) expected.push_back(from + 7);
  CHECK(to_host(exec, received) == expected);
}

}  // namespace

TEST_CASE("nccl: a rank without messages") {
  const Context context = on_own_device();
  check_groups(context);
  for (int again = 0; again < 3; ++again) check_without_last(context, context.exec);
  CHECK(context.comm.choose_transport(context.exec) == Transport::nccl);
}

namespace {

/// The same device with page-locked memory.
Exec page_locked(const Exec& exec) {
  Cuda pinned = std::get<Cuda>(exec);
  pinned.pool = std::make_shared<MemoryPool>(kernels::pinned_memory(pinned.device));
  return pinned;
}

}  // namespace

TEST_CASE("nccl: page-locked arrays go by MPI") {
  const Context context = on_own_device();
  REQUIRE(context.comm.choose_transport(context.exec) == Transport::nccl);
  check_without_last(context, page_locked(context.exec));
  check_without_last(context, context.exec);
  CHECK(context.comm.choose_transport(context.exec) == Transport::nccl);
}

TEST_CASE("nccl: a transform has no page-locked workspace") {
  const Context context = on_own_device();
  const Grid grid{{{12, 10, 14}}};
  Fft<double> fft(context, Decomposition(grid, context.comm.size(), {}), {});
  Buffer<std::byte> workspace(page_locked(context.exec), fft.workspace_bytes(), "test");
  CHECK_THROWS_WITH(fft.use_workspace(workspace.span()),
                    "the workspace of a Fourier transform must be memory of CUDA device " +
                        std::to_string(std::get<Cuda>(context.exec).device) +
                        " alone, as cudaMalloc gives it (not page-locked or managed memory)");
}

TEST_CASE("nccl: an observer that stops the agreement behind an exchange") {
  Context context;
  bool stops = false;
  REQUIRE(find_device(context, {.timeout_seconds = 4, .observer = [&](const char* operation) {
                                  if (stops && operation == std::string("gathering of records"))
                                    throw Interrupted("stopped");
                                }}));
  REQUIRE(context.comm.choose_transport(context.exec) == Transport::nccl);
  stops = context.comm.rank() == 1;
  CHECK_THROWS_AS(context.comm.together([&] { check_without_last(context, context.exec); }),
                  Interrupted);
  stops = false;
  CHECK(context.comm.choose_transport(context.exec) == Transport::staged);
  check_groups(context);
}
