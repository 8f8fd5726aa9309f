/// Waits for other ranks, over a network that is not there.
#include <catch2/catch.hpp>

#include <chrono>
#include <new>
#include <thread>

#include "src/comm/state.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;

constexpr auto time_of_message = std::chrono::milliseconds(5);

/// Takes its time.
class SlowMessage final : public NetworkRequest {
 public:
  bool is_done() override {
    std::this_thread::sleep_for(time_of_message);
    return true;
  }
};

class AtOnce final : public NetworkRequest {
 public:
  bool is_done() override { return true; }
};

/// The first of two ranks. The other one says the same, whatever is asked.
class SlowNetwork : public Network {
 public:
  SlowNetwork() { set_layout({.rank = 0, .size = 2, .node_rank = 0, .node_size = 2}); }
  using Request = std::unique_ptr<NetworkRequest>;

  bool keeps_memory() const override { return false; }
  bool is_of_threads() const override { return true; }
  Request send(const Parcel&) override { return std::make_unique<SlowMessage>(); }
  Request send_synchronously(const Parcel&) override { return std::make_unique<SlowMessage>(); }
  Request receive(const Parcel&) override { return std::make_unique<SlowMessage>(); }
  std::optional<int> find_arrived(int) override { return std::nullopt; }
  Request barrier() override { return std::make_unique<AtOnce>(); }
  Request reduce(Span<Index>, RankReduction) override { return std::make_unique<AtOnce>(); }
  Request reduce(Span<double>, RankReduction) override { return std::make_unique<AtOnce>(); }
  Request exclusive_sum(Span<Index>, Span<Index>) override { return std::make_unique<AtOnce>(); }
  Request broadcast(Span<char>, int) override { return std::make_unique<AtOnce>(); }
  Request all_gather(Span<const char>, Span<char>) override { return std::make_unique<AtOnce>(); }
  Request all_to_all(Span<const Index> sent, Span<Index> received) override {
    std::copy(sent.begin(), sent.end(), received.begin());
    return std::make_unique<AtOnce>();
  }
  std::unique_ptr<Network> split(int) override { return nullptr; }
  std::unique_ptr<Network> split_by_machine() override { return nullptr; }
  std::vector<int> ranks_of(const Network&) const override { return {}; }
  void give_up(const std::string&) noexcept override {}
};

/// Where a request cannot be made: the other rank is in the operation by then.
class NetworkWithoutMemory final : public SlowNetwork {
 public:
  Request reduce(Span<Index>, RankReduction reduction) override {
    if (reduction == RankReduction::sum) throw std::bad_alloc();
    return std::make_unique<AtOnce>();
  }
  Request barrier() override { throw std::bad_alloc(); }
};

}  // namespace

TEST_CASE("a wait may last longer than the limit as long as messages come through") {
  // Each look at the messages takes longer than the limit.
  const CommunicatorOptions options{
      .timeout_seconds = 0.02, .chunk_bytes = 8, .transport = Transport::staged};
  const Communicator comm = make_communicator(std::make_unique<SlowNetwork>(), options);
  constexpr Index num = 60;
  const ExchangePlan plan{{0, 0, num}, {0, 0, num}};
  const std::vector<Index> sent(num, 1);
  std::vector<Index> received(num);
  CHECK_NOTHROW(comm.exchange(host_exec(1), plan, Span<const Index>(sent), Span<Index>(received)));
  CHECK_FALSE(comm.is_broken());
}

TEST_CASE("without memory for a request the ranks agree on nothing more") {
  const auto check = [](const auto& operation) {
    const Communicator comm = make_communicator(std::make_unique<NetworkWithoutMemory>(), {});
    CHECK_THROWS_AS(operation(comm), std::bad_alloc);
    CHECK(comm.is_broken());
    CHECK_THROWS_AS(comm.max(Index{1}), CommunicationError);
  };
  check([](const Communicator& comm) { comm.barrier(); });
  check([](const Communicator& comm) { comm.sum(Index{1}); });
}
