// Variable all-to-all: counts, then data.

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "src/comm/messages.hpp"
#include "src/comm/part_exchange.hpp"
#include "src/comm/state.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

constexpr const char* counts_operation = "exchange of counts";
constexpr int counts_tag = 1;

std::vector<Index> offsets_of(const std::vector<Index>& counts) {
  std::vector<Index> offsets(counts.size() + 1);
  for (std::size_t r = 0; r < counts.size(); ++r) offsets[r + 1] = offsets[r] + counts[r];
  return offsets;
}

void validate_columns(const ExchangePlan& plan, const std::vector<ExchangeColumn>& columns) {
  for (const ExchangeColumn& column : columns) {
    const bool missing = (column.send == nullptr && plan.num_sent() > 0) ||
                         (column.receive == nullptr && plan.num_received() > 0);
    if (missing || column.element_size < 1)
      throw InputError("a column of an exchange has no memory or no element size");
  }
}

/// Plain counts, by one all-to-all.
template <class S>
std::vector<Index> all_counts(S& state, const std::vector<Index>& send_counts) {
  const std::size_t size = send_counts.size();
  Wire<Index> send(state.broken, size);
  Wire<Index> received(state.broken, size);
  std::copy(send_counts.begin(), send_counts.end(), send.data());
  MPI_Request request = MPI_REQUEST_NULL;
  state.check(MPI_Ialltoall(send.data(), 1, MPI_INT64_T, received.data(), 1, MPI_INT64_T,
                            state.comm, &request),
              counts_operation);
  state.wait(request, counts_operation);
  return {received.data(), received.data() + size};
}

/// Counts that are not 0, as messages; who receives how many is found by synchronous sends and a
/// barrier that is not waited for (Hoefler, Siebert & Lumsdaine 2010, PPoPP, "Scalable
/// communication protocols for dynamic sparse data exchange").
template <class S>
std::vector<Index> sparse_counts(S& state, const std::vector<Index>& send_counts) {
  std::vector<Index> counts(send_counts.size());
  Wire<Index> sent(state.broken, send_counts.size());
  std::copy(send_counts.begin(), send_counts.end(), sent.data());
  std::vector<MPI_Request> sends;
  for (std::size_t r = 0; r < send_counts.size(); ++r) {
    if (send_counts[r] == 0) continue;
    sends.emplace_back();
    state.check(MPI_Issend(&sent[r], 1, MPI_INT64_T, static_cast<int>(r), counts_tag, state.comm,
                           &sends.back()),
                counts_operation);
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool in_barrier = false;
  state.wait_until(counts_operation, [&] {
    int arrived = 0;
    MPI_Status status;
    state.check(MPI_Iprobe(MPI_ANY_SOURCE, counts_tag, state.comm, &arrived, &status),
                counts_operation);
    if (arrived != 0) {
      Index* count = &counts[static_cast<std::size_t>(status.MPI_SOURCE)];
      state.check(MPI_Recv(count, 1, MPI_INT64_T, status.MPI_SOURCE, counts_tag, state.comm,
                           MPI_STATUS_IGNORE),
                  counts_operation);
    }
    int done = 0;
    if (in_barrier) {
      state.check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), counts_operation);
      return done != 0 ? S::Seen::all : S::Seen::nothing;
    }
    state.check(
        MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE),
        counts_operation);
    if (done != 0) state.check(MPI_Ibarrier(state.comm, &barrier), counts_operation);
    in_barrier = done != 0;
    return arrived != 0 ? S::Seen::progress : S::Seen::nothing;
  });
  return counts;
}

}  // namespace

ExchangePlan Communicator::plan_exchange(const std::vector<Index>& send_counts) const {
  ZHALO_EXPECT(static_cast<int>(send_counts.size()) == size_);
  constexpr int sparse_share =
      8;  // of the ranks: with more partners, one all-to-all of counts is cheaper
  const auto partners = static_cast<Index>(send_counts.size()) -
                        std::count(send_counts.begin(), send_counts.end(), Index{0});
  const Index max_partners = max(partners);
  ExchangePlan plan;
  plan.send_offset = offsets_of(send_counts);
  if (state_ == nullptr) {
    plan.receive_offset = plan.send_offset;
    return plan;
  }
  enter(counts_operation);
  const bool sparse = max_partners * sparse_share < size_;
  plan.receive_offset =
      offsets_of(sparse ? sparse_counts(*state_, send_counts) : all_counts(*state_, send_counts));
  return plan;
}

namespace {

/// Messages of one rank to and from all others: first with its neighbours, so that not all send to
/// one rank at a time.
struct Schedule {
  Pieces sends;
  Pieces receives;
  Index bytes_sent = 0;
};

Schedule schedule(const ExchangePlan& plan, const std::vector<ExchangeColumn>& columns, int rank,
                  std::size_t piece_bytes) {
  Schedule result{Pieces(piece_bytes), Pieces(piece_bytes)};
  const int size = static_cast<int>(plan.send_offset.size()) - 1;
  const auto add = [](Pieces& pieces, int peer, void* data, const std::vector<Index>& offset,
                      Index element_size) {
    const auto r = static_cast<std::size_t>(peer);
    const Index bytes = (offset[r + 1] - offset[r]) * element_size;
    pieces.add(peer, static_cast<char*>(data) + offset[r] * element_size,
               static_cast<std::size_t>(bytes));
    return bytes;
  };
  for (int step = 1; step < size; ++step) {
    for (const ExchangeColumn& column : columns) {
      void* send = const_cast<void*>(column.send);
      result.bytes_sent +=
          add(result.sends, (rank + step) % size, send, plan.send_offset, column.element_size);
      add(result.receives, (rank + size - step) % size, column.receive, plan.receive_offset,
          column.element_size);
    }
  }
  return result;
}

void copy_own(const Exec& exec, const ExchangePlan& plan,
              const std::vector<ExchangeColumn>& columns, int rank) {
  const auto self = static_cast<std::size_t>(rank);
  const Index count = plan.send_offset[self + 1] - plan.send_offset[self];
  for (const ExchangeColumn& column : columns) {
    const char* from =
        static_cast<const char*>(column.send) + plan.send_offset[self] * column.element_size;
    char* to = static_cast<char*>(column.receive) + plan.receive_offset[self] * column.element_size;
    copy_bytes(exec, to, from, static_cast<std::size_t>(count * column.element_size));
  }
}

}  // namespace

void Communicator::exchange(const Exec& exec, const ExchangePlan& plan,
                            const std::vector<ExchangeColumn>& columns) const {
  validate_columns(plan, columns);
  synchronise(exec);  // MPI reads what kernels wrote
  if (state_ == nullptr) return copy_own(exec, plan, columns, rank_);
  probe_gpu_aware(exec);
  const kernels::DeviceInUse device(exec);  // MPI may be given addresses of its memory
  // All that can fail comes before the others are told that this rank takes part.
  const std::shared_ptr<MemoryPool> pool = state_->staging_for(exec);
  const Schedule messages =
      schedule(plan, columns, rank_, static_cast<std::size_t>(state_->options.chunk_bytes));
  const Staging sends(pool, messages.sends.longest());
  const Staging receives(pool, messages.receives.longest());
  copy_own(exec, plan, columns, rank_);
  const bool may_fail =
      enter(data_operation, pool != nullptr && std::holds_alternative<Cuda>(exec));
  state_->bytes_sent += messages.bytes_sent;
  MessageStream out(MessageStream::Direction::send, {state_->comm, data_tag}, sends, exec);
  MessageStream in(MessageStream::Direction::receive, {state_->comm, data_tag}, receives, exec);
  out.add(messages.sends);
  in.add(messages.receives);
  try {
    state_->wait_until(data_operation, [&] {
      const std::size_t before = out.num_done() + in.num_done();
      in.advance();
      out.advance();
      if (in.is_done() && out.is_done()) return State::Seen::all;
      return in.num_done() + out.num_done() > before ? State::Seen::progress : State::Seen::nothing;
    });
  } catch (...) {
    state_->broken = true;  // MPI failed with messages under way
    throw;
  }
  // What a rank received from one whose device failed may be anything: nobody may use it.
  if (may_fail) together([&] { rethrow_failure(out, in); });
}

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
