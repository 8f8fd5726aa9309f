#include "zhalo/comm/communicator.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

void check(int code, const char* operation) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CommunicationError(fmt::format("{} failed: {}", operation, std::string(text.data(), static_cast<std::size_t>(length))));
}

template <class T>
T reduce_all(MPI_Comm comm, T value, MPI_Datatype type, MPI_Op op) {
  if (comm == MPI_COMM_NULL) return value;
  T result = value;
  check(MPI_Allreduce(&value, &result, 1, type, op, comm), "MPI_Allreduce");
  return result;
}

/// Error types that survive the way to other ranks.
enum class Kind : int { none, input, file, memory, device, communication, contract, other };

struct Failure {
  Kind kind = Kind::none;
  std::string message;
};

Failure describe_current_exception() {
  try {
    throw;
  } catch (const InputError& e) {
    return {Kind::input, e.what()};
  } catch (const FileError& e) {
    return {Kind::file, e.what()};
  } catch (const OutOfMemory& e) {
    return {Kind::memory, e.what()};
  } catch (const std::bad_alloc&) {
    return {Kind::memory, "out of host memory in a small allocation; use more ranks or a machine with more memory"};
  } catch (const DeviceError& e) {
    return {Kind::device, e.what()};
  } catch (const CommunicationError& e) {
    return {Kind::communication, e.what()};
  } catch (const ContractViolation& e) {
    return {Kind::contract, e.what()};
  } catch (const std::exception& e) {
    return {Kind::other, e.what()};
  } catch (...) {
    return {Kind::other, "unknown exception"};
  }
}

[[noreturn]] void rethrow(const Failure& failure) {
  switch (failure.kind) {
    case Kind::input: throw InputError(failure.message);
    case Kind::file: throw FileError(failure.message);
    case Kind::memory: throw OutOfMemory(failure.message);
    case Kind::device: throw DeviceError(failure.message);
    case Kind::communication: throw CommunicationError(failure.message);
    case Kind::contract: throw ContractViolation(failure.message);
    case Kind::none:
    case Kind::other: break;
  }
  throw Error(failure.message);
}

}  // namespace

Communicator::Communicator(MPI_Comm parent) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0)
    throw InputError("MPI is not initialised; call MPI_Init first, or default-construct the Communicator of one rank");
  if (parent == MPI_COMM_NULL)
    throw InputError("the MPI communicator is MPI_COMM_NULL; only its members may make a Communicator");
  check(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() { release(); }

Communicator::Communicator(Communicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      rank_(std::exchange(other.rank_, 0)),
      size_(std::exchange(other.size_, 1)) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this == &other) return *this;
  release();
  comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
  rank_ = std::exchange(other.rank_, 0);
  size_ = std::exchange(other.size_, 1);
  return *this;
}

/// After MPI_Finalize the duplicate is gone already.
void Communicator::release() noexcept {
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

void Communicator::barrier() const {
  if (comm_ != MPI_COMM_NULL) check(MPI_Barrier(comm_), "MPI_Barrier");
}

Index Communicator::sum(Index value) const { return reduce_all(comm_, value, MPI_INT64_T, MPI_SUM); }
double Communicator::sum(double value) const { return reduce_all(comm_, value, MPI_DOUBLE, MPI_SUM); }
Index Communicator::min(Index value) const { return reduce_all(comm_, value, MPI_INT64_T, MPI_MIN); }
double Communicator::min(double value) const { return reduce_all(comm_, value, MPI_DOUBLE, MPI_MIN); }
Index Communicator::max(Index value) const { return reduce_all(comm_, value, MPI_INT64_T, MPI_MAX); }
double Communicator::max(double value) const { return reduce_all(comm_, value, MPI_DOUBLE, MPI_MAX); }

Index Communicator::exclusive_sum(Index value) const {
  if (comm_ == MPI_COMM_NULL) return 0;
  Index result = 0;
  check(MPI_Exscan(&value, &result, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Exscan");
  return rank_ == 0 ? 0 : result;
}

void Communicator::sum_in_place(Span<Index> values) const {
  if (comm_ == MPI_COMM_NULL) return;
  constexpr Index chunk = Index{1} << 30;
  for (Index first = 0; first < values.size(); first += chunk) {
    const Index count = std::min(chunk, values.size() - first);
    check(MPI_Allreduce(MPI_IN_PLACE, values.data() + first, static_cast<int>(count), MPI_INT64_T, MPI_SUM, comm_),
          "MPI_Allreduce");
  }
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  if (comm_ == MPI_COMM_NULL) return text;
  std::string result = text;
  std::int64_t length = static_cast<std::int64_t>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT64_T, root, comm_), "MPI_Bcast");
  result.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(result.data(), static_cast<int>(length), MPI_CHAR, root, comm_), "MPI_Bcast");
  return result;
}

void Communicator::together(const std::function<void()>& work) const {
  Failure failure;
  try {
    work();
  } catch (...) {
    failure = describe_current_exception();
  }
  const Index none = std::numeric_limits<Index>::max();
  const Index first_failed = min(failure.kind == Kind::none ? none : Index{rank_});
  if (first_failed == none) return;
  const int culprit = static_cast<int>(first_failed);
  failure.kind = static_cast<Kind>(std::stoi(broadcast(std::to_string(static_cast<int>(failure.kind)), culprit)));
  failure.message = broadcast(failure.message, culprit);
  if (size_ > 1) failure.message = fmt::format("rank {}: {}", culprit, failure.message);
  rethrow(failure);
}

Share share_of(Index total, int rank, int size) {
  const Index base = total / size;
  const Index extra = total % size;
  return {rank * base + std::min<Index>(rank, extra), base + (rank < extra ? 1 : 0)};
}

}  // namespace zhalo
