// A communicator's own exchange, a variable all-to-all: counts, then data. (What exchange.hpp
// declares is in part_exchange.cpp and shared_memory.cpp.)

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "src/comm/messages.hpp"
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

void validate_plan(const ExchangePlan& plan, int num_ranks) {
  const auto num_offsets = static_cast<std::size_t>(num_ranks) + 1;
  if (plan.send_offset.size() != num_offsets || plan.receive_offset.size() != num_offsets)
    throw InputError(
        fmt::format("the plan of an exchange has {} and {} offsets (must be {} for {} ranks); take "
                    "it from plan_exchange()",
                    plan.send_offset.size(), plan.receive_offset.size(), num_offsets, num_ranks));
}

void validate_counts(const std::vector<Index>& counts, int num_ranks) {
  if (static_cast<int>(counts.size()) != num_ranks)
    throw InputError(
        fmt::format("{} counts of an exchange are given for {} ranks", counts.size(), num_ranks));
  const Index smallest = *std::min_element(counts.begin(), counts.end());
  if (smallest < 0)
    throw InputError(
        fmt::format("{} elements are to be sent to a rank (must not be negative)", smallest));
}

void validate_columns(const ExchangePlan& plan, const std::vector<ColumnMove>& columns) {
  for (const ColumnMove& column : columns) {
    const ColumnView& from = column.from;
    const bool missing = (from.data == nullptr && plan.num_sent() > 0) ||
                         (column.to == nullptr && plan.num_received() > 0);
    const bool has_gaps = from.stride_bytes != 0 && from.stride_bytes != from.element_size;
    if (missing || has_gaps || from.element_size < 1 || from.num < plan.num_sent())
      throw InputError(
          "a column of an exchange has no memory, no element size, gaps, or fewer elements than "
          "are sent");
  }
}

/// Plain counts, by one all-to-all.
template <class S>
void exchange_all_counts(S& state, Span<Index> sent, Span<Index> received) {
  state.finish(counts_operation, [&] { return state.network->all_to_all(sent, received); });
}

/// Counts that are not 0, as messages; who receives how many is found by synchronous sends and a
/// barrier that is not waited for (Hoefler, Siebert & Lumsdaine 2010, PPoPP, "Scalable
/// communication protocols for dynamic sparse data exchange").
template <class S>
void exchange_sparse_counts(S& state, Span<Index> sent, Span<Index> received) {
  Network& network = *state.network;
  std::fill(received.begin(), received.end(), Index{0});
  const auto parcel = [](Index& count, int peer) {
    return Parcel{&count, sizeof count, peer, counts_tag};
  };
  std::vector<std::unique_ptr<NetworkRequest>> sends;
  state.call(counts_operation, [&] {
    for (Index r = 0; r < sent.size(); ++r) {
      if (sent[r] != 0)
        sends.push_back(network.send_synchronously(parcel(sent[r], static_cast<int>(r))));
    }
  });
  std::unique_ptr<NetworkRequest> barrier;
  const auto look = [&] {
    const std::optional<int> from = network.find_arrived(counts_tag);
    if (from) {
      Index& count = received[*from];
      state.finish(counts_operation, [&] { return network.receive(parcel(count, *from)); });
    }
    if (barrier != nullptr) return barrier->is_done() ? S::Seen::all : S::Seen::nothing;
    std::erase_if(sends, [](const auto& request) { return request->is_done(); });
    if (sends.empty()) barrier = network.barrier();
    return from ? S::Seen::progress : S::Seen::nothing;
  };
  state.wait_until(counts_operation, [&] { return state.call(counts_operation, look); });
}

}  // namespace

ExchangePlan Communicator::plan_exchange(const std::vector<Index>& send_counts) const {
  validate_counts(send_counts, size_);
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
  Wire<Index> sent(*state_, Span<const Index>(send_counts));
  Wire<Index> received(*state_, send_counts.size());
  enter(counts_operation);
  if (max_partners * sparse_share < size_) {
    exchange_sparse_counts(*state_, sent.span(), received.span());
  } else {
    exchange_all_counts(*state_, sent.span(), received.span());
  }
  plan.receive_offset = offsets_of({received.span().begin(), received.span().end()});
  return plan;
}

namespace {

/// The part of a column that goes to, or comes from, one rank.
kernels::Message part_of(const void* column, const std::vector<Index>& offset, int rank,
                         Index element_size) {
  const auto r = static_cast<std::size_t>(rank);
  auto* const data = const_cast<char*>(static_cast<const char*>(column));  // MPI and NCCL say so
  return {rank, data + offset[r] * element_size, (offset[r + 1] - offset[r]) * element_size};
}
kernels::Message sent_part(const ExchangePlan& plan, const ColumnMove& column, int rank) {
  return part_of(column.from.data, plan.send_offset, rank, column.from.element_size);
}
kernels::Message received_part(const ExchangePlan& plan, const ColumnMove& column, int rank) {
  return part_of(column.to, plan.receive_offset, rank, column.from.element_size);
}

void copy_own(const Exec& exec, const kernels::MessageGroup& group) {
  for (const kernels::OwnCopy& copy : group.copies)
    copy_bytes(exec, copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
}

}  // namespace

/// Of columns, first with the rank's neighbours, so that not all send to one rank at a time.
struct Communicator::Messages : kernels::MessageGroup {
  Messages(const ExchangePlan& plan, const std::vector<ColumnMove>& columns, int rank) {
    for (const ColumnMove& column : columns) {
      const kernels::Message own = sent_part(plan, column, rank);
      if (own.bytes > 0 && !column.leaves_own)
        copies.push_back({received_part(plan, column, rank).data, own.data, own.bytes});
    }
    const int size = static_cast<int>(plan.send_offset.size()) - 1;
    for (int step = 1; step < size; ++step) {
      for (const ColumnMove& column : columns) {
        send(sent_part(plan, column, (rank + step) % size));
        receive(received_part(plan, column, (rank + size - step) % size));
      }
    }
  }
};

void Communicator::validate_sizes(const ExchangePlan& plan, Index num_sent, Index num_received) {
  if (num_sent != plan.num_sent() || num_received != plan.num_received())
    throw InputError(fmt::format(
        "arrays of {} and {} elements are given to an exchange that sends {} and receives {}",
        num_sent, num_received, plan.num_sent(), plan.num_received()));
}

void Communicator::exchange(const Exec& exec, const ExchangePlan& plan,
                            const std::vector<ColumnMove>& columns) const {
  validate_plan(plan, size_);
  validate_columns(plan, columns);
  const Messages messages(plan, columns, rank_);
  if (state_ == nullptr || size_ == 1) {
    synchronise(exec);
    return copy_own(exec, messages);
  }
  if (choose_transport(exec) != Transport::nccl || !LinkedRanks(*this).exchange(exec, messages))
    exchange_by_network(exec, messages);
  state_->bytes_sent += messages.bytes_sent();
}

void Communicator::exchange_by_network(const Exec& exec, const Messages& messages) const {
  probe_gpu_aware(exec);
  synchronise(exec);                        // others read what kernels wrote
  const kernels::DeviceInUse device(exec);  // MPI may be given addresses of its memory
  // All that can fail comes before the others are told that this rank takes part.
  const Pieces to_send(messages.sends, state_->options.chunk_bytes);
  const Pieces to_receive(messages.receives, state_->options.chunk_bytes);
  const Staging sends(*state_, exec, to_send.longest());
  const Staging receives(*state_, exec, to_receive.longest());
  MessageStream out(MessageStream::Direction::send, {state_->network.get(), data_tag}, sends, exec);
  MessageStream in(MessageStream::Direction::receive, {state_->network.get(), data_tag}, receives,
                   exec);
  copy_own(exec, messages);
  const bool copies_itself = sends.is_used() || is_of_threads();
  out.add(to_send);
  in.add(to_receive);
  const bool may_fail = enter(data_operation, copies_itself && std::holds_alternative<Cuda>(exec));
  try {
    state_->wait_until(data_operation, [&] {
      const std::size_t before = out.num_done() + in.num_done();
      in.advance();
      out.advance();
      if (in.is_done() && out.is_done()) return State::Seen::all;
      return in.num_done() + out.num_done() > before ? State::Seen::progress : State::Seen::nothing;
    });
  } catch (const std::exception& error) {
    state_->give_up(error.what(), exec);
    throw;
  }
  // What a rank received from one whose device failed may be anything: nobody may use it.
  if (may_fail) together([&] { rethrow_failure(out, in); });
}

}  // namespace zhalo
