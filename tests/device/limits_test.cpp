// Particles beyond the memory of devices: one error on all ranks, which says how many devices would
// do, and nothing is lost. Runs with ZHALO_EMULATED_MEMORY=8.
#include <catch2/catch.hpp>

#include <functional>
#include <string>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/sample.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/knn.hpp"

namespace zhalo::emulated {
namespace {

using Catch::Contains;

/// The message of the OutOfMemory that the call throws, which all ranks must agree about.
std::string lack_of(const Context& context, const std::function<void()>& call) {
  std::string message = "no error";
  try {
    call();
  } catch (const OutOfMemory& error) {
    message = error.what();
  }
  // The rank that failed says it in its own words, the others with its number in front.
  const std::string remedy = message.substr(message.find("; ") + 1);
  CHECK(context.comm.broadcast(remedy) == remedy);
  return message;
}

Index number_before(const std::string& message, const std::string& words) {
  const std::size_t end = message.find(words);
  REQUIRE(end != std::string::npos);
  return std::stoll(message.substr(message.rfind(' ', end - 2) + 1));
}

std::int64_t launches() { return counts().at(static_cast<std::size_t>(Event::launch)); }

/// More than fit, and fewer that do.
struct TooMany {
  Context context = on_device();
  Index num = Index{250000} * context.comm.size();
  Sample all{context, points::Kind::uniform, num};
  Sample few{context, points::Kind::uniform, num / 10};

  void find_groups(const Sample& sample) const {
    friends_of_friends(context, sample.particles(), sample.box,
                       {.linking_length = sample.linking_length()});
  }
  std::size_t in_use() const { return memory(context.exec)->bytes_in_use(); }
};

}  // namespace

TEST_CASE("particles beyond the memory of devices are refused before work begins") {
  const TooMany too_many;
  const Context& context = too_many.context;
  const std::size_t before = too_many.in_use();
  const std::int64_t launched = launches();
  const std::string message = lack_of(context, [&] { too_many.find_groups(too_many.all); });
  CHECK_THAT(message, Contains("out of CUDA device memory: friends of friends among " +
                               std::to_string(too_many.num) + " particles need") &&
                          Contains("are available on device") &&
                          Contains("devices of this memory would do"));
  CHECK(launches() == launched);
  CHECK(too_many.in_use() == before);

  const Index devices = number_before(message, "devices of this memory");
  CHECK(devices > context.comm.size());
  const auto need = [&](Index ranks) {
    const SearchSize size{too_many.num, static_cast<int>(ranks)};
    const double input = 12.0 * static_cast<double>(too_many.num) / static_cast<double>(ranks);
    return friends_of_friends_need(size).peak + input;
  };
  CHECK(need(devices) < 8 << 20);
  CHECK(need(devices - 1) > 0.75 * (8 << 20));
  too_many.find_groups(too_many.few);  // the context can still be used
}

TEST_CASE("neighbours beyond the memory of devices are refused before work begins") {
  const TooMany too_many;
  const std::string message = lack_of(too_many.context, [&] {
    knn(too_many.context, too_many.all.particles(), too_many.all.box, {.k = 8});
  });
  CHECK_THAT(message,
             Contains("8 neighbours among") && Contains("devices of this memory would do"));
}

TEST_CASE("an allocation that fails on one rank says on all how many devices would do") {
  const TooMany too_many;
  const Context& context = too_many.context;
  const std::size_t before = too_many.in_use();
  if (context.comm.rank() == context.comm.size() - 1) {
    for (const std::int64_t n : {4, 5}) fail_call(Event::malloc, n);  // it is tried twice
  }
  const std::string message = lack_of(context, [&] { too_many.find_groups(too_many.few); });
  fail_no_call();
  CHECK_THAT(message, Contains("GiB are needed for") && Contains("of device") &&
                          Contains("devices of this memory would do"));
  CHECK(too_many.in_use() == before);
  too_many.find_groups(too_many.few);
}

TEST_CASE("more is needed than was predicted: the number of devices is that of what is needed") {
  const Context context = on_device();
  const auto predicted = [](int ranks) { return double{1 << 20} / ranks; };
  std::string message;
  context.comm.together([&] {
    const DeviceMemoryScope scope(context, "a test", predicted);
    message =
        lack_of(context, [&] { const Buffer<std::byte> room(context.exec, 64 << 20, "work"); });
  });
  // 64 MiB and some padding for each rank, in devices of 8 MiB, of which gaps may take a quarter.
  CHECK(number_before(message, "devices of this memory") == 32 * context.comm.size() / 3 + 1);
  message = lack_of(context, [&] { const Buffer<std::byte> room(context.exec, 64 << 20, "work"); });
  CHECK_THAT(message, Contains("use more ranks or a machine with more memory"));
}

}  // namespace zhalo::emulated
