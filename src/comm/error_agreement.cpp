// One rank's exception becomes everybody's.
//
// Every collective begins with an all-reduce that tells whether some rank left its work by an
// exception. The rank that did asks the same question from the handler of its together(); so the
// two meet wherever each of them is, and no rank waits for one that is gone.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "src/comm/failure.hpp"
#include "src/comm/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

constexpr int none = std::numeric_limits<int>::max();
constexpr int possible = none - 1;  // no rank failed, but some rank's operation may still

template <class S>
int smallest(S& state, int value) {
  Wire<int> wire(state.broken, 2);
  wire[0] = value;
  MPI_Request request = MPI_REQUEST_NULL;
  state.check(MPI_Iallreduce(&wire[0], &wire[1], 1, MPI_INT, MPI_MIN, state.comm, &request),
              "agreement on errors");
  state.wait(request, "agreement on errors");
  return wire[1];
}

template <class S>
void send_failure(S& state, Failure& failure, int culprit) {
  const char* operation = "spreading of an error";
  Wire<int> header(state.broken, 3);
  header[0] = static_cast<int>(failure.kind);
  header[1] = static_cast<int>(failure.message.size());
  header[2] = failure.names_rank ? 1 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  state.check(MPI_Ibcast(header.data(), 3, MPI_INT, culprit, state.comm, &request), operation);
  state.wait(request, operation);
  const auto size = static_cast<std::size_t>(header[1]);
  Wire<char> text(state.broken, size);
  std::copy_n(failure.message.data(), std::min(size, failure.message.size()), text.data());
  state.check(MPI_Ibcast(text.data(), header[1], MPI_CHAR, culprit, state.comm, &request),
              operation);
  state.wait(request, operation);
  failure = {static_cast<FailureKind>(header[0]), {text.data(), size}, header[2] == 1};
}

/// Returns if no rank has failed: the least of all `otherwise`. Else throws the failure of the
/// lowest rank that has.
template <class S>
int settle(S& state, const Failure& mine, int rank, int otherwise = none) {
  const int culprit = smallest(state, mine.kind == FailureKind::none ? otherwise : rank);
  if (culprit >= possible) return culprit;
  Failure shared = mine;
  send_failure(state, shared, culprit);
  const bool alike = shared.kind == mine.kind && shared.message == mine.message;
  if (smallest(state, alike ? 1 : 0) == 0 && !shared.names_rank) {
    shared.message = fmt::format("rank {}: {}", state.name_of(culprit), shared.message);
    shared.names_rank = true;
  }
  throw_agreed(shared, &state);
}

}  // namespace

bool Communicator::enter(const char* operation, bool may_fail) const {
  if (state_ == nullptr) return false;
  state_->need_whole(operation);
  if (state_->options.observer) state_->options.observer(operation);
  return size_ > 1 && settle(*state_, {}, rank_, may_fail ? possible : none) == possible;
}

/// A failure must not be lost because the others cannot be told.
void Communicator::tell_others(const Failure& failure) const {
  try {
    static_cast<void>(settle(*state_, failure, rank_));
  } catch (const CommunicationError& error) {
    if (!is_broken() || failure.kind == FailureKind::none) throw;
    throw CommunicationError(
        fmt::format("{} (and this went before: {})", error.what(), failure.message));
  }
}

bool Communicator::is_broken() const { return state_ && state_->broken; }

void Communicator::together(const std::function<void()>& work) const {
  Failure failure;
  try {
    work();
  } catch (const Agreed& agreed) {
    if (agreed.among == state_.get() || is_broken()) throw;
    failure = describe_current_exception();
    failure.names_rank = agreed.names_rank;
  } catch (...) {
    if (is_broken()) throw;
    failure = describe_current_exception();
  }
  if (size_ > 1) return tell_others(failure);
  if (failure.kind != FailureKind::none) throw_agreed(failure, state_.get());
}

}  // namespace zhalo
