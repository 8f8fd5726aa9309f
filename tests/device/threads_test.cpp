/// Several emulated devices of one process, each with a thread that is a rank: the bits of one
/// device, however arrays travel, and what happens when something fails.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/runtime/devices.hpp"
#include "tests/support/nccl_fault.hpp"
#include "tests/support/same_on_ranks.hpp"
#include "zhalo/comm/threads.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// Also devices that two ranks share.
const std::vector<std::vector<int>> choices_of_devices = {{1}, {0, 1}, {3, 1, 0, 2}, {0, 1, 1}};

std::string transport_on(const std::vector<int>& devices, Transport transport) {
  std::string name;
  run_on_devices(devices,
                 [&](Context& context) {
                   const std::string own = context.comm.describe_transport(context.exec);
                   if (context.comm.rank() == 0) name = own;
                 },
                 {.transport = transport});
  return name;
}

Analysed analysed_by_one(const PointSet<float>& points) {
  Context alone;
  alone.exec = cuda_exec(0);
  return analyse(alone, points, {0, points.num()});
}

std::string message_on_two(const std::function<void(Context&)>& work,
                           const CommunicatorOptions& options = {}) {
  try {
    run_on_devices({0, 1}, work, options);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("devices of one process: the results are those of one device") {
  const PointSet<float> points = points_of_analysis();
  const Analysed whole = analysed_by_one(points);
  for (const Transport transport : {Transport::automatic, Transport::staged}) {
    for (const std::vector<int>& devices : choices_of_devices) {
      run_on_devices(
          devices,
          [&](Context& context) {
            const auto rank = static_cast<std::size_t>(context.comm.rank());
            need(std::get<Cuda>(context.exec).device == devices[rank], "a rank has its device");
            need(emulated::current_device() == devices[rank], "which is current on its thread");
            check_analysis(context, points, whole);
          },
          {.chunk_bytes = 3000, .transport = transport});
    }
  }
}

TEST_CASE("devices of one process: the host waits for no copy of a staged message") {
  constexpr Index num = 10000;
  const auto waits = [](Index chunk_bytes) {
    std::int64_t waits_before = 0, waits_after = 0;
    const auto note = [](const Context& context, std::int64_t& to) {
      context.comm.barrier();
      constexpr auto event = static_cast<std::size_t>(emulated::Event::synchronise);
      if (context.comm.rank() == 0) to = emulated::counts()[event];
      context.comm.barrier();
    };
    run_on_devices(
        {0, 1},
        [&](Context& context) {
          const int other = 1 - context.comm.rank();
          std::vector<Index> send_counts(2);
          send_counts[static_cast<std::size_t>(other)] = num;
          const ExchangePlan plan = context.comm.plan_exchange(send_counts);
          std::vector<Index> own(num);
          for (Index i = 0; i < num; ++i) own[static_cast<std::size_t>(i)] = 2 * i - other;
          const Buffer<Index> sent = to_exec(context.exec, Span<const Index>(own), "test");
          Buffer<Index> received(context.exec, num, "test");
          note(context, waits_before);
          context.comm.exchange(context.exec, plan, sent.span(), received.span());
          note(context, waits_after);
          const std::vector<Index> came = to_host(context.exec, received);
          for (Index i = 0; i < num; ++i)
            need(came[static_cast<std::size_t>(i)] == 2 * i - context.comm.rank(), "what was sent");
        },
        {.chunk_bytes = chunk_bytes, .transport = Transport::staged});
    return waits_after - waits_before;
  };
  const std::int64_t waits_for_one = waits(num * static_cast<Index>(sizeof(Index)));
  CHECK(waits_for_one > 0);  // for what was queued before
  CHECK(waits(1000) == waits_for_one);
}

TEST_CASE("devices of one process: by NCCL") {
  const PointSet<float> points = points_of_analysis();
  const Analysed whole = analysed_by_one(points);
  for (const std::vector<int>& devices : {std::vector<int>{0, 1}, {2, 0, 3, 1}}) {
    run_on_devices(
        devices,
        [&](Context& context) {
          need(context.comm.choose_transport(context.exec) == Transport::nccl, "NCCL is taken");
          check_analysis(context, points, whole);
          need(context.comm.choose_transport(context.exec) == Transport::nccl, "and kept");
        },
        {.transport = Transport::nccl});
  }
}

TEST_CASE("devices of one process: NCCL that fails is given up, and the results are the same") {
  const PointSet<float> points = points_of_analysis();
  const Analysed whole = analysed_by_one(points);
  const Fault fault(GENERATE("send:1:2", "error:0:3", "hang:1:2"));
  const auto work = [&](Context& context) {
    const FofOptions options{.linking_length = points.linking_length};
    const Share part = part_of(points.num(), Cut::uneven, context.comm.rank(), 2);
    const std::vector<float> own = rows_of(points, part);
    const Buffer<float> rows = to_exec(context.exec, Span<const float>(own), "test");
    Particles<float> particles;
    particles.segments = {ParticleSegment<float>::interleaved(rows.data(), part.count)};
    const FofResult found = friends_of_friends(context, particles, points.box, options);
    need(to_host(context.exec, found.label) == slice(whole.label, part), "labels");
    need(context.comm.describe_transport(context.exec)
                 .find("copies from device to device (no NCCL: rank ") == 0,
         "arrays are copied from then on");
  };
  run_on_devices({0, 1}, work, {.timeout_seconds = 4, .transport = Transport::nccl});
}

TEST_CASE("devices of one process: how arrays travel") {
  CHECK(transport_on({0, 1}, Transport::automatic) == "copies from device to device");
  CHECK(transport_on({0, 1}, Transport::gpu_aware) == "copies from device to device");
  CHECK(transport_on({0, 1}, Transport::staged) == "staged through host memory");
  CHECK(transport_on({0, 1}, Transport::nccl) == "NCCL 2.21.5");
  CHECK_THROWS_WITH(transport_on({0, 0}, Transport::nccl), Contains("share a device"));
}

TEST_CASE("devices of one process: copies that do not arrive are found before they are used") {
  const PointSet<float> points = points_of_analysis();
  const Analysed whole = analysed_by_one(points);
  for (const auto lost : {emulated::LostCopies::of_connected, emulated::LostCopies::all}) {
    emulated::lose_copies(lost);
    const bool are_staged = lost == emulated::LostCopies::all;
    CHECK(transport_on({0, 1}, Transport::automatic) ==
          (are_staged ? "staged through host memory" : "copies from device to device"));
    run_on_devices({0, 1}, [&](Context& context) { check_analysis(context, points, whole); });
    if (are_staged)
      CHECK_THROWS_WITH(transport_on({0, 1}, Transport::gpu_aware), Contains("do not arrive"));
  }
  emulated::lose_copies(emulated::LostCopies::none);
}

TEST_CASE("devices of one process: arrays on the host and on a device") {
  run_on_devices({0, 1, 2}, [](Context& context) {
    const int rank = context.comm.rank();
    const Exec exec = rank == 1 ? host_exec(1) : context.exec;
    const std::vector<Index> counts(3, 10);
    const ExchangePlan plan = context.comm.plan_exchange(counts);
    const std::vector<Index> values(30, rank + 7);
    const Buffer<Index> send = to_exec(exec, Span<const Index>(values), "test");
    Buffer<Index> received(exec, plan.num_received(), "test");
    context.comm.exchange(exec, plan, send.span(), received.span());
    const std::vector<Index> found = to_host(exec, received);
    for (std::size_t i = 0; i < found.size(); ++i)
      need(found[i] == static_cast<Index>(i) / 10 + 7, "what the ranks have sent");
  });
}

TEST_CASE("devices of one process: a device that fails is the same error of all") {
  const PointSet<float> points = points_of_analysis();
  const auto work = [&](Context& context) {
    context.comm.barrier();
    if (context.comm.rank() == 0) emulated::fail_call(emulated::Event::copy, 30);
    context.comm.barrier();
    analyse(context, points, part_of(points.num(), Cut::uneven, context.comm.rank(), 2));
  };
  for (const Transport transport : {Transport::automatic, Transport::staged}) {
    const std::string message = message_on_two(work, {.transport = transport});
    CHECK_THAT(message, Contains("rank ") && Contains("the CUDA device failed"));
    emulated::fail_no_call();
  }
}

TEST_CASE("devices of one process: a copy between devices that fails is the same error of all") {
  std::atomic<int> num_alike = 0;
  const auto work = [&](Context& context) {
    const std::vector<Index> counts(2, 1000);
    const ExchangePlan plan = context.comm.plan_exchange(counts);
    Buffer<Index> sent(context.exec, 2000, "test");
    Buffer<Index> received(context.exec, 2000, "test");
    const auto exchange = [&] {
      context.comm.exchange(context.exec, plan, Span<const Index>(sent.span()), received.span());
    };
    exchange();
    context.comm.barrier();
    // Each rank's own part is copied first.
    if (context.comm.rank() == 0) emulated::fail_call(emulated::Event::copy, 3);
    context.comm.barrier();
    try {
      exchange();
    } catch (const DeviceError&) {
      ++num_alike;
    }
    exchange();  // the communicator is whole
  };
  CHECK(message_on_two(work) == "none");
  CHECK(num_alike == 2);
  emulated::fail_no_call();
}

TEST_CASE("devices of one process: a thread that hangs is an error of the others") {
  const auto may_end = std::make_shared<std::atomic<bool>>(false);
  const auto has_ended = std::make_shared<std::atomic<bool>>(false);
  const std::string message = message_on_two(
      [may_end, has_ended](Context& context) {
        while (context.comm.rank() == 1 && !*may_end) std::this_thread::yield();
        if (context.comm.rank() == 1) *has_ended = true;
        context.comm.barrier();
      },
      {.timeout_seconds = 0.3});
  CHECK_THAT(message, Contains("the thread of rank 1 hangs and is left behind"));
  *may_end = true;
  while (!*has_ended) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it frees what it has
}

TEST_CASE("devices of one process: all of them, and those that are not there") {
  CHECK(all_devices() == std::vector<int>{0, 1, 2, 3});
  CHECK_THROWS_AS(run_on_devices({0, 4}, [](Context&) {}), DeviceError);
  CHECK_THROWS_AS(run_on_devices({}, [](Context&) {}), InputError);
}
