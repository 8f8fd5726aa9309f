#include "src/comm/device_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "src/comm/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

constexpr const char* link_operation = "exchange between devices";
constexpr int note_tag = 5;
/// MPI is always there: nobody waits half an hour for a network that NCCL does not find.
constexpr auto longest_to_make = std::chrono::seconds(120);
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
    if (!ranks[r].has_nccl) return fmt::format("rank {} has no NCCL 2.18 or newer", r);
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
  FailureNotes(MPI_Comm comm, int rank, int size, const bool& broken)
      : comm_(comm), rank_(rank), size_(size), text_(broken, 2) {}

  bool has_arrived() const {
    int arrived = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, note_tag, comm_, &arrived, MPI_STATUS_IGNORE),
              link_operation);
    return arrived != 0;
  }
  void send() {
    for (int to = 0; to < size_; ++to) {
      if (to == rank_) continue;
      check_mpi(
          MPI_Isend(text_.data(), 1, MPI_CHAR, to, note_tag, comm_, &requests_.emplace_back()),
          link_operation);
    }
  }
  void receive(int from) {
    check_mpi(
        MPI_Irecv(text_.data() + 1, 1, MPI_CHAR, from, note_tag, comm_, &requests_.emplace_back()),
        link_operation);
  }
  bool are_through() {
    int all = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all,
                          MPI_STATUSES_IGNORE),
              link_operation);
    return all != 0;
  }

 private:
  MPI_Comm comm_;
  int rank_;
  int size_;
  Wire<char> text_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::string LinkedRanks::wait(const std::function<bool()>& is_done) const {
  using Seen = Communicator::State::Seen;
  Communicator::State& state = *comm_.state_;
  const FailureNotes notes(state.comm, comm_.rank(), comm_.size(), state.broken);
  try {
    bool others_failed = false;
    state.wait_until(link_operation, [&] {
      others_failed = notes.has_arrived();
      return others_failed || is_done() ? Seen::all : Seen::nothing;
    });
    return others_failed ? another_rank : "";
  } catch (const std::exception& e) {
    state.broken = false;  // NCCL's messages are given up, not MPI's
    return e.what();
  }
}

std::string LinkedRanks::settle(std::string error, const std::function<bool()>& is_done) const {
  using Seen = Communicator::State::Seen;
  Communicator::State& state = *comm_.state_;
  const int size = comm_.size();
  if (error.empty()) error = wait(is_done);
  FailureNotes notes(state.comm, comm_.rank(), size, state.broken);
  const bool failed_here = !error.empty() && error != another_rank;
  if (failed_here) notes.send();
  const std::vector<int> failed = comm_.all_gather(failed_here ? 1 : 0);
  const auto first = std::find(failed.begin(), failed.end(), 1);
  if (first == failed.end()) return {};
  for (int rank = 0; rank < size; ++rank) {
    if (rank != comm_.rank() && failed[static_cast<std::size_t>(rank)] == 1) notes.receive(rank);
  }
  state.wait_until(link_operation, [&] { return notes.are_through() ? Seen::all : Seen::nothing; });
  const auto culprit = static_cast<int>(first - failed.begin());
  return fmt::format("rank {}: {}", state.name_of(culprit), comm_.broadcast(error, culprit));
}

void LinkedRanks::give_up(const std::string& why) const {
  DeviceLink& link = comm_.state_->link;
  if (link.nccl != nullptr) link.nccl->give_up();
  link.nccl.reset();
  link.why_not = why;
}

void LinkedRanks::make_links(const Exec& exec) const {
  DeviceLink& link = comm_.state_->link;
  kernels::NcclLink::Id id{};
  std::string error;
  const auto try_to = [&](const auto& work) {
    try {
      if (error.empty()) work();
    } catch (const std::exception& e) {
      error = e.what();
    }
  };
  try_to([&] {
    if (comm_.rank() == 0) id = kernels::make_nccl_id();
  });
  const std::string text = comm_.broadcast({id.begin(), id.end()});
  std::copy(text.begin(), text.end(), id.begin());
  try_to([&] {
    link.nccl = kernels::make_nccl_link(std::get<Cuda>(exec), id, comm_.rank(), comm_.size());
  });
  const auto latest = std::chrono::steady_clock::now() + longest_to_make;
  const std::string why = settle(error, [&] {
    if (std::chrono::steady_clock::now() > latest)
      throw CommunicationError("NCCL has not connected the devices within 120 s");
    return link.nccl->is_ready();
  });
  if (!why.empty()) give_up(why);
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
  if (link.why_not.empty()) make_links(exec);
  const bool must = std::any_of(all.begin(), all.end(),
                                [](const LinkCandidate& rank) { return rank.must_be_linked; });
  if (link.nccl != nullptr || !must) return;
  comm_.together([&] {
    throw InputError(fmt::format(
        "messages cannot go by NCCL: {}; choose another transport, or leave the choice to zhalo",
        link.why_not));
  });
}

bool LinkedRanks::exchange(const Exec& exec, const kernels::MessageGroup& group) const {
  DeviceLink& link = comm_.state_->link;
  if (comm_.enter(link_operation, !link.serves(exec))) return false;
  std::string error;
  Index number = 0;
  try {
    number = link.nccl->start(std::get<Cuda>(exec), group);
  } catch (const std::exception& e) {
    error = e.what();
  }
  const std::string why = settle(error, [&] { return link.nccl->is_done(number); });
  if (!why.empty()) give_up(why);
  return why.empty();
}

}  // namespace zhalo
