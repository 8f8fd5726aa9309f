// One rank's exception becomes everybody's.
//
// Every collective begins with an all-reduce that tells whether some rank left its work by an
// exception. The rank that did asks the same question from the handler of its together(); so the
// two meet wherever each of them is, and no rank waits for one that is gone.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <string>

#include "src/comm/agreement.hpp"
#include "src/comm/state.hpp"
#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

bool are_equal(const Communicator& comm, const std::vector<Index>& numbers) {
  // FNV-1a: equal numbers have equal digests, and different ones hardly ever.
  std::uint64_t digest = 14695981039346656037U;
  for (const Index number : numbers) {
    for (int byte = 0; byte < 8; ++byte)
      digest = (digest ^ (static_cast<std::uint64_t>(number) >> (8 * byte) & 255)) * 1099511628211U;
  }
  const auto word = static_cast<Index>(digest);
  const Index lowest = comm.min(word);
  return comm.max(word) == lowest;
}

void validate_equal(const Communicator& comm, const std::vector<Index>& numbers,
                    std::string_view what) {
  validate(are_equal(comm, numbers), "{} differ between ranks (must be the same on all)", what);
}

NumAndFirst bad_of_ranks(const Communicator& comm, Index num, Index first, Index index_of_rank) {
  const Index index = num > 0 ? index_of_rank + first : std::numeric_limits<Index>::max();
  return {comm.sum(num), comm.min(index)};
}

struct Failure {
  ErrorKind kind = ErrorKind::none;
  std::string message;
  bool names_rank = false;  ///< the message says which rank failed
};

namespace {

/// Mark of an exception that all ranks of a communicator throw: it needs no agreement again.
struct Agreed {
  const void* among = nullptr;
  bool names_rank = false;
};

template <class E>
struct AgreedError : E, Agreed {
  AgreedError(const Failure& failure, const void* ranks)
      : E(failure.message), Agreed{ranks, failure.names_rank} {}
};

/// Of the exception that is being handled.
Failure describe_current_exception() {
  const CaughtError caught = caught_error();
  return {caught.kind, caught.message()};
}

/// Throws the error that the failure describes, marked.
[[noreturn]] void throw_agreed(const Failure& failure, const void* among) {
  switch (failure.kind) {
    case ErrorKind::input: throw AgreedError<InputError>(failure, among);
    case ErrorKind::file: throw AgreedError<FileError>(failure, among);
    case ErrorKind::memory: throw AgreedError<OutOfMemory>(failure, among);
    case ErrorKind::device: throw AgreedError<DeviceError>(failure, among);
    case ErrorKind::communication: throw AgreedError<CommunicationError>(failure, among);
    case ErrorKind::interrupted: throw AgreedError<Interrupted>(failure, among);
    case ErrorKind::contract: throw AgreedError<ContractViolation>(failure, among);
    case ErrorKind::none:
    case ErrorKind::other: break;
  }
  throw AgreedError<Error>(failure, among);
}

constexpr Index none = std::numeric_limits<Index>::max();
constexpr Index possible = none - 1;  // no rank failed, but some rank's operation may still

template <class S>
Index smallest(S& state, Index value) {
  Wire<Index> wire(state, 1);
  wire[0] = value;
  state.finish("agreement on errors",
               [&] { return state.network->reduce(wire.span(), RankReduction::min); });
  return wire[0];
}

/// What goes ahead of the text of a failure.
struct FailureHead {
  ErrorKind kind = ErrorKind::none;
  bool names_rank = false;
  Index length = 0;
};

template <class S>
void send_failure(S& state, Failure& failure, int culprit) {
  const char* operation = "spreading of an error";
  FailureHead head{failure.kind, failure.names_rank, static_cast<Index>(failure.message.size())};
  Wire<char> bytes(state, sizeof head);
  std::memcpy(bytes.data(), &head, sizeof head);
  state.finish(operation, [&] { return state.network->broadcast(bytes.span(), culprit); });
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto size = static_cast<std::size_t>(head.length);
  Wire<char> text(state, size);
  std::copy_n(failure.message.data(), std::min(size, failure.message.size()), text.data());
  state.finish(operation, [&] { return state.network->broadcast(text.span(), culprit); });
  failure = {head.kind, {text.data(), size}, head.names_rank};
}

/// Returns if no rank has failed: the least of all `otherwise`. Else throws the failure of the
/// lowest rank that has.
template <class S>
Index agree_on_failure(S& state, const Failure& mine, int rank, Index otherwise = none) {
  const Index lowest = smallest(state, mine.kind == ErrorKind::none ? otherwise : rank);
  if (lowest >= possible) return lowest;
  const int culprit = static_cast<int>(lowest);
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
  if (size_ == 1) return false;
  state_->entered = operation;
  const bool others_may_fail =
      agree_on_failure(*state_, {}, rank_, may_fail ? possible : none) == possible;
  state_->entered = nullptr;
  return others_may_fail;
}

/// A failure must not be lost because the others cannot be told.
void Communicator::tell_others(const Failure& failure) const {
  state_->entered = nullptr;
  try {
    state_->need_whole("agreement on errors");
    static_cast<void>(agree_on_failure(*state_, failure, rank_));
  } catch (const CommunicationError& error) {
    if (!is_broken() || failure.kind == ErrorKind::none) throw;
    throw CommunicationError(
        fmt::format("{} (and this went before: {})", error.what(), failure.message));
  }
}

bool is_agreed(const std::exception& error) {
  return dynamic_cast<const Agreed*>(&error) != nullptr;
}

bool Communicator::is_broken() const {
  return state_ && (state_->broken || state_->network->is_over());
}

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
  if (failure.kind != ErrorKind::none) throw_agreed(failure, state_.get());
}

}  // namespace zhalo
