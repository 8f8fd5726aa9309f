#include "src/comm/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "kernels/memory.hpp"
#include "src/comm/agreement.hpp"
#include "src/comm/messages.hpp"
#include "src/comm/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

namespace {

constexpr const char* left_behind = "a rank has left an exchange with messages under way";

}  // namespace

/// How parts travel.
struct PartExchange::Streams {
  using State = Communicator::State;

  Streams() = default;
  virtual ~Streams() = default;
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  virtual Index start(kernels::MessageGroup part) = 0;
  virtual void advance() = 0;
  virtual void finish(Index part) = 0;
  virtual void finish_all(const std::exception_ptr& failure) = 0;
};

/// As messages, from and to the arrays or through staging.
struct PartExchange::ByMessages final : PartExchange::Streams {
  State& state;
  const Exec& exec;
  Staging staging_of_sends;
  Staging staging_of_receives;
  MessageStream sends;
  MessageStream receives;
  std::vector<std::size_t> sends_until;  ///< messages of this part and those before it
  std::vector<std::size_t> receives_until;

  ByMessages(State& communicator, const Exec& where, std::size_t slot_bytes)
      : state(communicator),
        exec(where),
        staging_of_sends(state, exec, slot_bytes),
        staging_of_receives(state, exec, slot_bytes),
        sends(MessageStream::Direction::send, {state.network.get(), part_tag}, staging_of_sends,
              exec),
        receives(MessageStream::Direction::receive, {state.network.get(), part_tag},
                 staging_of_receives, exec) {}
  ByMessages(const ByMessages&) = delete;
  ByMessages& operator=(const ByMessages&) = delete;
  ~ByMessages() override {
    if (!(sends.is_done() && receives.is_done())) state.give_up(left_behind, exec);
  }

  Index start(kernels::MessageGroup part) override {
    sends.add({part.sends, state.options.chunk_bytes});
    receives.add({part.receives, state.options.chunk_bytes});
    sends_until.push_back(sends.num_added());
    receives_until.push_back(receives.num_added());
    advance();
    return static_cast<Index>(sends_until.size()) - 1;
  }

  void advance() override { static_cast<void>(look()); }
  State::Seen look() {
    std::optional<kernels::DeviceInUse> device;
    if (!staging_of_sends.is_used()) device.emplace(exec);  // MPI is given addresses of its memory
    const std::size_t before = sends.num_done() + receives.num_done();
    receives.advance();
    sends.advance();
    return sends.num_done() + receives.num_done() > before ? State::Seen::progress
                                                           : State::Seen::nothing;
  }

  void finish(Index part) override {
    const auto p = static_cast<std::size_t>(part);
    state.wait_until(data_operation, [&] {
      const State::Seen seen = look();
      const bool all = sends.is_done(sends_until[p]) && receives.is_done(receives_until[p]);
      return all ? State::Seen::all : seen;
    });
  }

  void finish_all(const std::exception_ptr& failure) override {
    if (!sends_until.empty()) finish(static_cast<Index>(sends_until.size()) - 1);
    if (failure) std::rethrow_exception(failure);
    rethrow_failure(sends, receives);
  }
};

/// From device to device. What fails is told at the end, where all ranks are: until then this rank
/// goes on without messages.
struct PartExchange::ByLink final : PartExchange::Streams {
  const Communicator& comm;
  const Cuda& exec;
  kernels::NcclLink& link;
  Attempt attempt;
  Index num_started = 0;
  Index num_done = 0;
  std::vector<Index> number_of_part;

  ByLink(const Communicator& ranks, const Exec& where)
      : comm(ranks), exec(std::get<Cuda>(where)), link(*ranks.state_->link.nccl) {}
  ByLink(const ByLink&) = delete;
  ByLink& operator=(const ByLink&) = delete;
  ~ByLink() override {
    if (num_done == num_started || comm.state_->link.nccl == nullptr) return;
    // Other ranks may wait for this one's messages: nothing can be agreed on.
    link.give_up();
    comm.state_->give_up(left_behind);
  }

  Index start(kernels::MessageGroup part) override {
    ++num_started;
    number_of_part.push_back(0);
    attempt.try_to([&] { number_of_part.back() = link.start(exec, std::move(part)); });
    return num_started - 1;
  }

  void advance() override {
    attempt.try_to([&] { static_cast<void>(link.is_done(0)); });
  }

  bool is_done(Index part) { return link.is_done(number_of_part[static_cast<std::size_t>(part)]); }

  void finish(Index part) override {
    if (attempt.error.empty())
      attempt.error = LinkedRanks(comm).wait([&] { return is_done(part); });
  }

  void finish_all(const std::exception_ptr& failure) override {
    const LinkedRanks ranks(comm);  // also those that have no messages
    const std::string why = ranks.agree_or_give_up(
        attempt.error, [&] { return num_started == 0 || is_done(num_started - 1); });
    num_done = num_started;
    comm.together([&] {
      if (failure) std::rethrow_exception(failure);
    });
    if (why.empty()) return;
    throw CommunicationError(fmt::format(
        "messages between devices failed ({}); messages go by MPI from now on: run the step again",
        why));
  }
};

PartExchange::PartExchange(const Communicator& comm, const Exec& exec, Index longest_bytes)
    : comm_(comm) {
  if (comm.state_ == nullptr) return;
  if (comm.choose_transport(exec) == Transport::nccl &&
      !comm.enter(data_operation, !comm.state_->link.serves(exec))) {
    streams_ = std::make_unique<ByLink>(comm, exec);
    return;
  }
  comm.probe_gpu_aware(exec);
  const Index slot_bytes = std::min(longest_bytes, comm.state_->options.chunk_bytes);
  streams_ = std::make_unique<ByMessages>(*comm.state_, exec, static_cast<std::size_t>(slot_bytes));
  comm.enter(data_operation);  // all that can fail came before
}

PartExchange::~PartExchange() = default;

Index PartExchange::start(kernels::MessageGroup part) {
  if (streams_ == nullptr) return 0;
  comm_.state_->bytes_sent += part.bytes_sent();
  return streams_->start(std::move(part));
}

void PartExchange::advance() {
  if (streams_) streams_->advance();
}

void PartExchange::finish(Index part) {
  if (streams_) streams_->finish(part);
}

void PartExchange::finish_all(const std::exception_ptr& failure) {
  if (streams_) return streams_->finish_all(failure);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace zhalo
