#include "src/comm/part_exchange.hpp"

#include <algorithm>
#include <optional>

#include "kernels/memory.hpp"
#include "src/comm/messages.hpp"

namespace zhalo {

struct PartExchange::Streams {
  using State = Communicator::State;

  State& state;
  const Exec& exec;
  Staging staging_of_sends;
  Staging staging_of_receives;
  MessageStream sends;
  MessageStream receives;
  std::vector<std::size_t> sends_until;  ///< messages of this part and those before it
  std::vector<std::size_t> receives_until;

  Streams(State& communicator, const Exec& where, std::size_t slot_bytes)
      : state(communicator),
        exec(where),
        staging_of_sends(state.staging_for(exec), slot_bytes),
        staging_of_receives(state.staging_for(exec), slot_bytes),
        sends(MessageStream::Direction::send, {state.comm, part_tag}, staging_of_sends, exec),
        receives(MessageStream::Direction::receive, {state.comm, part_tag}, staging_of_receives,
                 exec) {}

  State::Seen advance() {
    std::optional<kernels::DeviceInUse> device;
    if (!staging_of_sends.is_used()) device.emplace(exec);  // MPI is given addresses of its memory
    const std::size_t before = sends.num_done() + receives.num_done();
    receives.advance();
    sends.advance();
    return sends.num_done() + receives.num_done() > before ? State::Seen::progress
                                                           : State::Seen::nothing;
  }
};

namespace {

Pieces pieces_of(const std::vector<Message>& messages, Index max_bytes) {
  Pieces pieces(static_cast<std::size_t>(max_bytes));
  for (const Message& message : messages)
    pieces.add(message.peer, message.data, static_cast<std::size_t>(message.bytes));
  return pieces;
}

}  // namespace

PartExchange::PartExchange(const Communicator& comm, const Exec& exec, Index longest_bytes) {
  if (comm.state_ == nullptr) return;
  comm.probe_gpu_aware(exec);
  const Index slot_bytes = std::min(longest_bytes, comm.state_->options.chunk_bytes);
  streams_ = std::make_unique<Streams>(*comm.state_, exec, static_cast<std::size_t>(slot_bytes));
  comm.enter(data_operation);  // all that can fail came before
}

PartExchange::~PartExchange() {
  if (streams_ && !(streams_->sends.is_done() && streams_->receives.is_done()))
    streams_->state.broken = true;
}

Index PartExchange::start(const MessagePart& part) {
  if (streams_ == nullptr) return 0;
  const Index max_bytes = streams_->state.options.chunk_bytes;
  streams_->sends.add(pieces_of(part.sends, max_bytes));
  streams_->receives.add(pieces_of(part.receives, max_bytes));
  for (const Message& message : part.sends) streams_->state.bytes_sent += message.bytes;
  streams_->sends_until.push_back(streams_->sends.num_added());
  streams_->receives_until.push_back(streams_->receives.num_added());
  advance();
  return static_cast<Index>(streams_->sends_until.size()) - 1;
}

void PartExchange::advance() {
  if (streams_) static_cast<void>(streams_->advance());
}

void PartExchange::finish(Index part) {
  if (streams_ == nullptr) return;
  using Seen = Communicator::State::Seen;
  const auto p = static_cast<std::size_t>(part);
  streams_->state.wait_until(data_operation, [&] {
    const Seen seen = streams_->advance();
    const bool all = streams_->sends.is_done(streams_->sends_until[p]) &&
                     streams_->receives.is_done(streams_->receives_until[p]);
    return all ? Seen::all : seen;
  });
}

void PartExchange::finish_all() {
  if (streams_ == nullptr || streams_->sends_until.empty()) return;
  finish(static_cast<Index>(streams_->sends_until.size()) - 1);
  rethrow_failure(streams_->sends, streams_->receives);
}

}  // namespace zhalo
