#include "zhalo/comm/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kernels/memory.hpp"
#include "src/comm/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

// ---------------------------------------------------------------- waiting

void check_mpi(int code, const char* operation) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CommunicationError(fmt::format("{} failed: {}", operation,
                                       std::string(text.data(), static_cast<std::size_t>(length))));
}

/// After MPI_Finalize the duplicate is gone already, and with messages under way MPI_Comm_free may
/// wait for ever.
Communicator::State::~State() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!probe_room.empty())
    static_cast<void>(std::make_unique<Buffer<Index>>(std::move(probe_room))
                          .release());  // for MPI, as long as the process lives
  if (finalized == 0 && !broken && !has_lost_messages && comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
}

void Communicator::State::need_whole(const char* operation) const {
  if (broken) {
    throw CommunicationError(
        fmt::format("{} cannot start: an earlier wait for other ranks was given up, this "
                    "communicator is of no use any more",
                    operation));
  }
}

void Communicator::State::wait_until(const char* operation, const std::function<Seen()>& look) {
  using Clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::milliseconds(5);
  constexpr auto nap = std::chrono::microseconds(50);
  auto last_progress = Clock::now();
  while (true) {
    const Seen seen = look();
    if (seen == Seen::all) return;
    const auto now = Clock::now();
    if (seen == Seen::progress) last_progress = now;
    const auto waited = now - last_progress;
    if (waited < patience) {
      sched_yield();  // ranks may share cores
      continue;
    }
    if (options.timeout_seconds > 0 &&
        waited > std::chrono::duration<double>(options.timeout_seconds)) {
      broken = true;
      throw CommunicationError(
          fmt::format("{} has waited for other ranks for {:g} s: one of them has ended, hangs, or "
                      "needs longer; look at the other "
                      "ranks' messages, or raise the limit with ZHALO_TIMEOUT (seconds, 0: none)",
                      operation, options.timeout_seconds));
    }
    std::this_thread::sleep_for(nap);
  }
}

void Communicator::State::wait(MPI_Request& request, const char* operation) {
  wait_until(operation, [&] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), operation);
    return done != 0 ? Seen::all : Seen::nothing;
  });
}

void Communicator::State::check(int code, const char* operation) {
  broken = broken || code != MPI_SUCCESS;
  check_mpi(code, operation);
}

std::shared_ptr<MemoryPool> Communicator::State::staging_for(const Exec& exec) {
  const auto* cuda = std::get_if<Cuda>(&exec);
  if (options.transport != Transport::staged && (cuda == nullptr || gpu_aware)) return nullptr;
  std::shared_ptr<MemoryPool>& pool = cuda != nullptr ? pinned_staging[cuda->device] : staging;
  if (pool != nullptr) return pool;
  pool = cuda != nullptr ? std::make_shared<MemoryPool>(kernels::pinned_memory(cuda->device))
                         : std::make_shared<MemoryPool>();
  return pool;
}

// ---------------------------------------------------------------- making one

namespace {

constexpr double default_timeout_seconds = 1800;
constexpr Index max_chunk_bytes = Index{1} << 30;

double timeout_of(const CommunicatorOptions& options) {
  if (options.timeout_seconds >= 0) return options.timeout_seconds;
  const char* text = std::getenv("ZHALO_TIMEOUT");
  if (text == nullptr) return default_timeout_seconds;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 0)) {
    throw InputError(
        fmt::format("ZHALO_TIMEOUT is '{}' (must be a number of seconds, 0 for no limit)", text));
  }
  return seconds;
}

}  // namespace

Communicator::Communicator(MPI_Comm parent, const CommunicatorOptions& options) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0)
    throw InputError(
        "MPI is not initialised; call MPI_Init first, or default-construct the Communicator of one "
        "rank");
  if (parent == MPI_COMM_NULL)
    throw InputError(
        "the MPI communicator is MPI_COMM_NULL; only its members may make a Communicator");
  state_ = std::make_shared<State>();
  check_mpi(MPI_Comm_dup(parent, &state_->comm), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(state_->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(state_->comm, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(state_->comm, &size_), "MPI_Comm_size");
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(state_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  MPI_Comm_rank(node, &state_->node_rank);
  MPI_Comm_size(node, &state_->node_size);
  MPI_Comm_free(&node);
  state_->options = options;
  state_->options.timeout_seconds = default_timeout_seconds;
  together([&] {
    state_->options.timeout_seconds = timeout_of(options);
    if (options.chunk_bytes < 1 || options.chunk_bytes > max_chunk_bytes)
      throw InputError(fmt::format("the longest message is {} bytes (must be 1 to {})",
                                   options.chunk_bytes, max_chunk_bytes));
    // Both sides of a message must think alike of its parts.
    state_->options.chunk_bytes = min(options.chunk_bytes);
    use_transport(options.transport);
  });
}

Communicator::~Communicator() = default;

Communicator::Communicator(Communicator&& other) noexcept
    : state_(std::move(other.state_)),
      rank_(std::exchange(other.rank_, 0)),
      size_(std::exchange(other.size_, 1)) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this == &other) return *this;
  state_ = std::move(other.state_);
  rank_ = std::exchange(other.rank_, 0);
  size_ = std::exchange(other.size_, 1);
  return *this;
}

MPI_Comm mpi_handle(const Communicator& comm) {
  return comm.state_ ? comm.state_->comm : MPI_COMM_NULL;
}

int Communicator::node_rank() const { return state_ ? state_->node_rank : 0; }
int Communicator::node_size() const { return state_ ? state_->node_size : 1; }
bool Communicator::is_gpu_aware() const { return state_ && state_->gpu_aware; }
Index Communicator::bytes_sent() const { return state_ ? state_->bytes_sent : 0; }

namespace {

/// Of each rank of `part` the rank in `whole`. Not collective.
std::vector<int> ranks_among(MPI_Comm part, MPI_Comm whole) {
  int size = 0;
  MPI_Group members = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_size(part, &size), "MPI_Comm_size");
  check_mpi(MPI_Comm_group(part, &members), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(whole, &all), "MPI_Comm_group");
  std::vector<int> own(static_cast<std::size_t>(size)), ranks(own.size());
  std::iota(own.begin(), own.end(), 0);
  const int code = MPI_Group_translate_ranks(members, size, own.data(), all, ranks.data());
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  check_mpi(code, "MPI_Group_translate_ranks");
  return ranks;
}

}  // namespace

/// Takes over `part`, which is freed.
Communicator Communicator::make_part(MPI_Comm part) const {
  std::vector<int> names = ranks_among(part, state_->comm);
  for (int& name : names) name = state_->name_of(name);
  Communicator result(part, state_->options);
  MPI_Comm_free(&part);
  result.state_->gpu_aware = state_->gpu_aware;
  result.state_->gpu_aware_is_claimed = state_->gpu_aware_is_claimed;
  result.state_->names = std::move(names);
  return result;
}

Communicator Communicator::split(int colour) const {
  enter("split");
  if (state_ == nullptr) return {};
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(state_->comm, colour, rank_, &part), "MPI_Comm_split");
  return make_part(part);
}

Communicator Communicator::split_by_machine() const {
  enter("split by machine");
  if (state_ == nullptr) return {};
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(state_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part),
            "MPI_Comm_split_type");
  return make_part(part);
}

// ---------------------------------------------------------------- reductions

void Communicator::barrier() const {
  enter("barrier");
  if (state_ == nullptr) return;
  MPI_Request request = MPI_REQUEST_NULL;
  state_->check(MPI_Ibarrier(state_->comm, &request), "barrier");
  state_->wait(request, "barrier");
}

namespace {

MPI_Datatype type_of(Index) { return MPI_INT64_T; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

}  // namespace

template <class T>
T Communicator::reduce(T value, MPI_Op op, const char* operation) const {
  enter(operation);
  if (state_ == nullptr) return value;
  Wire<T> wire(state_->broken, 2);
  wire[0] = value;
  MPI_Request request = MPI_REQUEST_NULL;
  state_->check(MPI_Iallreduce(&wire[0], &wire[1], 1, type_of(T{}), op, state_->comm, &request),
                operation);
  state_->wait(request, operation);
  return wire[1];
}

Index Communicator::sum(Index value) const { return reduce(value, MPI_SUM, "sum over ranks"); }
double Communicator::sum(double value) const { return reduce(value, MPI_SUM, "sum over ranks"); }
Index Communicator::min(Index value) const { return reduce(value, MPI_MIN, "minimum over ranks"); }
double Communicator::min(double value) const {
  return reduce(value, MPI_MIN, "minimum over ranks");
}
Index Communicator::max(Index value) const { return reduce(value, MPI_MAX, "maximum over ranks"); }
double Communicator::max(double value) const {
  return reduce(value, MPI_MAX, "maximum over ranks");
}

Index Communicator::exclusive_sum(Index value) const {
  exclusive_sum_in_place({&value, 1});
  return value;
}

void Communicator::sum_in_place(Span<Index> values) const {
  reduce_in_place(values, Prefix::no, "sum over ranks");
}

void Communicator::exclusive_sum_in_place(Span<Index> values) const {
  reduce_in_place(values, Prefix::yes, "sum over lower ranks");
  if (rank_ == 0) std::fill(values.begin(), values.end(), Index{0});
}

void Communicator::reduce_in_place(Span<Index> values, Prefix prefix, const char* operation) const {
  enter(operation);
  if (state_ == nullptr) return;
  const Index most =
      std::max<Index>(1, state_->options.chunk_bytes / static_cast<Index>(sizeof(Index)));
  for (Index first = 0; first < values.size(); first += most) {
    const Span<Index> part = values.subspan(first, std::min(most, values.size() - first));
    const int count = static_cast<int>(part.size());
    Wire<Index> wire(state_->broken, static_cast<std::size_t>(count));
    std::copy(part.begin(), part.end(), wire.data());
    MPI_Request request = MPI_REQUEST_NULL;
    const auto start = prefix == Prefix::yes ? MPI_Iexscan : MPI_Iallreduce;
    state_->check(
        start(MPI_IN_PLACE, wire.data(), count, MPI_INT64_T, MPI_SUM, state_->comm, &request),
        operation);
    state_->wait(request, operation);
    std::copy_n(wire.data(), count, part.begin());
  }
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  constexpr const char* operation = "broadcast";
  enter(operation);
  if (state_ == nullptr) return text;
  Wire<std::int64_t> length(state_->broken, 1);
  length[0] = static_cast<std::int64_t>(text.size());
  MPI_Request request = MPI_REQUEST_NULL;
  state_->check(MPI_Ibcast(length.data(), 1, MPI_INT64_T, root, state_->comm, &request), operation);
  state_->wait(request, operation);
  const auto size = static_cast<std::size_t>(length[0]);
  Wire<char> characters(state_->broken, size);
  if (rank_ == root) std::copy(text.begin(), text.end(), characters.data());
  state_->check(
      MPI_Ibcast(characters.data(), static_cast<int>(size), MPI_CHAR, root, state_->comm, &request),
      operation);
  state_->wait(request, operation);
  return {characters.data(), size};
}

void Communicator::all_gather_bytes(const void* record, void* all, std::size_t bytes) const {
  constexpr const char* operation = "gathering of records";
  enter(operation);
  if (state_ == nullptr) {
    std::memcpy(all, record, bytes);
    return;
  }
  const std::size_t all_bytes = bytes * static_cast<std::size_t>(size_);
  Wire<char> send(state_->broken, bytes);
  Wire<char> received(state_->broken, all_bytes);
  std::memcpy(send.data(), record, bytes);
  const int count = static_cast<int>(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  state_->check(MPI_Iallgather(send.data(), count, MPI_BYTE, received.data(), count, MPI_BYTE,
                               state_->comm, &request),
                operation);
  state_->wait(request, operation);
  std::memcpy(all, received.data(), all_bytes);
}

Share share_of(Index total, int rank, int size) {
  const Index base = total / size;
  const Index extra = total % size;
  return {rank * base + std::min<Index>(rank, extra), base + (rank < extra ? 1 : 0)};
}

int owner_of(Index item, Index total, int size) {
  const Index base = total / size;
  const Index extra = total % size;
  const Index in_longer = extra * (base + 1);
  return static_cast<int>(item < in_longer ? item / (base + 1) : extra + (item - in_longer) / base);
}

}  // namespace zhalo
