#include "src/comm/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "src/comm/agreement.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {
namespace {

constexpr const char* link_operation = "exchange between devices";
constexpr int note_tag = 5;
/// MPI is always there: nobody waits half an hour for a network that NCCL does not find.
constexpr double longest_to_make = 120;  // seconds
constexpr const char* another_rank = "another rank failed";

/// What one rank says of itself before a link is made.
struct LinkCandidate {
  bool must_be_linked = false;  ///< so the user says
  bool is_on_device = false;
  bool has_nccl = false;
  kernels::DeviceId device{};
};

/// Why these ranks cannot be linked; empty if they can.
std::string why_no_link(const std::vector<LinkCandidate>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (!ranks[r].is_on_device) return fmt::format("rank {} does not compute on a device", r);
    if (!ranks[r].has_nccl) return fmt::format("rank {}: ", r);  // and its own words
    for (std::size_t q = 0; q < r; ++q) {
      if (ranks[q].device == ranks[r].device)
        return fmt::format("ranks {} and {} share a device", q, r);
    }
  }
  return {};
}

/// Tells all other ranks that this one has failed: they would wait for its messages.
class FailureNotes {
 public:
  explicit FailureNotes(Network& network) : network_(network) {}
  /// Where a wait for them was given up, MPI may still use their memory: it is never freed.
  ~FailureNotes() {
    if (!requests_.empty() && network_.keeps_memory())
      static_cast<void>(std::make_unique<std::deque<char>>(std::move(bytes_)).release());
  }
  FailureNotes(const FailureNotes&) = delete;
  FailureNotes& operator=(const FailureNotes&) = delete;

  bool has_arrived() const { return network_.find_arrived(note_tag).has_value(); }
  void send() {
    for (int to = 0; to < network_.layout().size; ++to) {
      if (to == network_.layout().rank) continue;
      requests_.push_back(network_.send({&bytes_.emplace_back(), 1, to, note_tag}));
    }
  }
  void receive(int from) {
    requests_.push_back(network_.receive({&bytes_.emplace_back(), 1, from, note_tag}));
  }
  bool are_through() {
    std::erase_if(requests_, [](const auto& request) { return request->is_done(); });
    return requests_.empty();
  }

 private:
  Network& network_;
  std::deque<char> bytes_;  ///< whose elements stay where they are
  std::vector<std::unique_ptr<NetworkRequest>> requests_;
};

/// How a rank came through a wait.
enum class Outcome : int { done, told, failed };

}  // namespace

bool DeviceLink::serves(const Exec& exec, const kernels::MessageGroup& group) const {
  if (!serves(exec)) return false;
  const auto takes = [&](const auto& message) { return nccl->takes(message.data); };
  const auto takes_copy = [&](const auto& copy) {
    return nccl->takes(copy.from) && nccl->takes(copy.to);
  };
  return std::all_of(group.sends.begin(), group.sends.end(), takes) &&
         std::all_of(group.receives.begin(), group.receives.end(), takes) &&
         std::all_of(group.copies.begin(), group.copies.end(), takes_copy);
}

double LinkedRanks::max_wait_seconds() const { return comm_.state_->options.timeout_seconds / 2; }

std::string LinkedRanks::wait(const std::function<bool()>& is_done) const {
  using Seen = Communicator::State::Seen;
  Communicator::State& state = *comm_.state_;
  const FailureNotes notes(*state.network);
  const double limit = max_wait_seconds();
  WaitedTime waited;
  try {
    bool others_failed = false;
    state.wait_until(link_operation, [&] {
      others_failed = notes.has_arrived();
      if (others_failed || is_done()) return Seen::all;
      if (limit > 0 && waited.look() > limit)
        throw CommunicationError(fmt::format("NCCL was not done within {:g} s", limit));
      return Seen::nothing;
    });
    return others_failed ? another_rank : "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

std::string LinkedRanks::agree_on_outcome(std::string error,
                                          const std::function<bool()>& is_done) const {
  using Seen = Communicator::State::Seen;
  Communicator::State& state = *comm_.state_;
  const int size = comm_.size();
  if (error.empty()) error = wait(is_done);
  FailureNotes notes(*state.network);
  const Outcome mine = error.empty()           ? Outcome::done
                       : error == another_rank ? Outcome::told
                                               : Outcome::failed;
  if (mine == Outcome::failed) notes.send();
  const std::vector<Outcome> all = comm_.all_gather(mine);
  const auto worst = std::max_element(all.begin(), all.end());
  if (*worst == Outcome::done) return {};
  for (int rank = 0; rank < size; ++rank) {
    const bool has_sent = all[static_cast<std::size_t>(rank)] == Outcome::failed;
    if (rank != comm_.rank() && has_sent) notes.receive(rank);
  }
  state.wait_until(link_operation, [&] { return notes.are_through() ? Seen::all : Seen::nothing; });
  const auto culprit = static_cast<int>(worst - all.begin());
  return fmt::format("rank {}: {}", state.name_of(culprit), comm_.broadcast(error, culprit));
}

std::string LinkedRanks::agree_or_give_up(const std::string& error,
                                          const std::function<bool()>& is_done) const {
  std::string why;
  try {
    why = agree_on_outcome(error, is_done);
  } catch (...) {
    give_up("an earlier exchange was not brought to its end");  // NCCL would go on by itself
    throw;
  }
  if (why.empty()) return why;
  const std::vector<Index> is_at_work = comm_.all_gather(Index{give_up(why) ? 0 : 1});
  const auto first = std::find(is_at_work.begin(), is_at_work.end(), Index{1});
  if (first == is_at_work.end()) return why;
  throw CommunicationError(
      fmt::format("NCCL was given up ({}), but the device of rank {} was still at work {:g} s "
                  "later; end this run",
                  why, comm_.state_->name_of(static_cast<int>(first - is_at_work.begin())),
                  max_wait_seconds()));
}

bool LinkedRanks::give_up(const std::string& why) const {
  DeviceLink& link = comm_.state_->link;
  const bool is_quiet = link.nccl == nullptr || link.nccl->give_up();
  link.nccl.reset();
  link.why_not = why;
  return is_quiet;
}

namespace {

/// Rank 0's identifier of the links to be, on all ranks. Collective.
kernels::NcclLink::Id share_id(const Communicator& comm, Attempt& attempt) {
  std::string text;
  attempt.try_to([&] {
    if (comm.rank() != 0) return;
    const kernels::NcclLink::Id made = kernels::make_nccl_id();
    text.assign(made.begin(), made.end());
  });
  text = comm.broadcast(text);
  if (text.empty() && attempt.error.empty()) attempt.error = "rank 0 has no identifier for NCCL";
  kernels::NcclLink::Id id{};
  std::copy(text.begin(), text.end(), id.begin());
  return id;
}

}  // namespace

void LinkedRanks::make_links(const Exec& exec) const {
  DeviceLink& link = comm_.state_->link;
  const auto& cuda = std::get<Cuda>(exec);
  const int rank = comm_.rank();
  const int size = comm_.size();
  Attempt attempt;
  const kernels::NcclLink::Id id = share_id(comm_, attempt);
  const std::vector<Index> sent_and_none{rank + 1, 0};
  Buffer<Index> numbers;  // made before: a device may wait for others when it makes memory
  attempt.try_to([&] {
    numbers = to_exec(exec, Span<const Index>(sent_and_none), "a probe of NCCL");
    link.nccl = kernels::make_nccl_link(cuda, id, {rank, size, max_wait_seconds()});
  });
  WaitedTime waited;
  const auto in_time = [&](bool is_done) {
    if (waited.look() > longest_to_make)
      throw CommunicationError("NCCL has not connected the devices within 120 s");
    return is_done;
  };
  const auto is_ready = [&] { return in_time(link.nccl->is_ready()); };
  if (!agree_or_give_up(attempt.error, is_ready).empty()) return;
  // Only messages show whether the devices reach each other: one number goes around.
  Index group = 0;
  attempt.try_to([&] {
    constexpr auto bytes = static_cast<Index>(sizeof(Index));
    group = link.nccl->start(cuda, {{{(rank + 1) % size, numbers.data(), bytes}},
                                    {{(rank + size - 1) % size, numbers.data() + 1, bytes}},
                                    {}});
  });
  const auto is_done = [&] { return in_time(link.nccl->is_done(group)); };
  if (!agree_or_give_up(attempt.error, is_done).empty()) return;
  attempt.try_to([&] {
    if (to_host(exec, numbers).back() != (rank + size - 1) % size + 1)
      throw CommunicationError("NCCL delivered another number than was sent");
  });
  agree_or_give_up(attempt.error, [] { return true; });
}

void LinkedRanks::decide(const Exec& exec) const {
  DeviceLink& link = comm_.state_->link;
  const Transport wanted = comm_.state_->options.transport;
  if (link.is_decided || wanted == Transport::gpu_aware || wanted == Transport::staged) return;
  const auto* cuda = std::get_if<Cuda>(&exec);
  if (comm_.max(Index{cuda != nullptr ? 1 : 0}) == 0) return;
  const std::vector<LinkCandidate> all = together(comm_, [&] {
    LinkCandidate mine{wanted == Transport::nccl};
    if (cuda != nullptr)
      mine = {mine.must_be_linked, true, kernels::why_no_nccl().empty(),
              kernels::device_id(cuda->device)};
    return comm_.all_gather(mine);
  });
  link.is_decided = true;
  link.why_not = why_no_link(all);
  const auto without = std::find_if(all.begin(), all.end(),
                                    [](const LinkCandidate& rank) { return !rank.has_nccl; });
  if (link.why_not.ends_with(": ")) {
    const auto rank = static_cast<int>(without - all.begin());
    link.why_not += comm_.broadcast(kernels::why_no_nccl(), rank);
  }
  if (link.why_not.empty()) make_links(exec);
  const bool must = std::any_of(all.begin(), all.end(),
                                [](const LinkCandidate& rank) { return rank.must_be_linked; });
  if (link.nccl != nullptr || !must) return;
  link.is_decided = false;  // the next exchange fails in the same way
  comm_.together([&] {
    throw InputError(fmt::format(
        "messages cannot go by NCCL: {}; choose another transport, or leave the choice to zhalo",
        link.why_not));
  });
}

bool LinkedRanks::exchange(const Exec& exec, const kernels::MessageGroup& group) const {
  DeviceLink& link = comm_.state_->link;
  if (comm_.enter(link_operation, !link.serves(exec, group))) return false;
  Attempt attempt;
  Index number = 0;
  attempt.try_to([&] { number = link.nccl->start(std::get<Cuda>(exec), group); });
  return agree_or_give_up(attempt.error, [&] { return link.nccl->is_done(number); }).empty();
}

}  // namespace zhalo
