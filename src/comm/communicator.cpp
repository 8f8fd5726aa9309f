#include "zhalo/comm/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kernels/memory.hpp"
#include "src/comm/state.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {

// ---------------------------------------------------------------- waiting

Communicator::State::~State() {
  if (!probe_room.empty())
    static_cast<void>(std::make_unique<Buffer<Index>>(std::move(probe_room))
                          .release());  // for MPI, as long as the process lives
  if (has_lost_messages && network != nullptr) network->give_up("");
}

void Communicator::State::give_up(const std::string& why) noexcept {
  broken = true;
  memory_is_lost = network->keeps_memory();
  network->give_up(why);
  if (machine != nullptr && machine->state_ != nullptr) machine->state_->give_up(why);
}

void Communicator::State::give_up(const std::string& why, const Exec& exec) noexcept {
  give_up(why);
  if (memory_is_lost) memory(exec)->abandon_used();
}

void Communicator::State::fail(const char* operation, const CommunicationError& error) {
  const std::string what =
      broken ? error.what() : fmt::format("{} failed: {}", operation, error.what());
  give_up(what);
  throw CommunicationError(what);
}

void Communicator::State::need_whole(const char* operation) const {
  if (broken) {
    throw CommunicationError(
        fmt::format("{} cannot start: an earlier wait for other ranks was given up, this "
                    "communicator is of no use any more",
                    operation));
  }
  if (network->is_over()) {
    throw CommunicationError(fmt::format(
        "{} cannot start: MPI is finalised; make all calls of zhalo before that", operation));
  }
}

void Communicator::State::wait_until(const char* operation, const std::function<Seen()>& look) {
  constexpr double patience = 5e-3;
  constexpr auto nap = std::chrono::microseconds(50);
  WaitedTime waited_time;
  while (true) {
    const Seen seen = look();
    if (seen == Seen::all) return;
    if (seen == Seen::progress) waited_time = {};
    const double waited = waited_time.look();
    if (waited < patience) {
      sched_yield();  // ranks may share cores
      continue;
    }
    if (options.timeout_seconds > 0 && waited > options.timeout_seconds) {
      const std::string why = fmt::format(
          "{}{}{} has waited for other ranks for {:g} s: one of them has ended, hangs, or needs "
          "longer; look at the other ranks' messages, or raise the limit: the timeout of the "
          "communicator or context where it is set, else ZHALO_TIMEOUT (0: none)",
          operation, entered == nullptr ? "" : " before ", entered == nullptr ? "" : entered,
          options.timeout_seconds);
      give_up(why);
      throw CommunicationError(why);
    }
    std::this_thread::sleep_for(nap);
  }
}

void Communicator::State::wait(NetworkRequest& request, const char* operation) {
  wait_until(operation, [&] {
    return call(operation, [&] { return request.is_done(); }) ? Seen::all : Seen::nothing;
  });
}

std::shared_ptr<MemoryPool> Communicator::State::staging_for(const Exec& exec) {
  const auto* cuda = std::get_if<Cuda>(&exec);
  if (options.transport != Transport::staged && (cuda == nullptr || gpu_aware)) return nullptr;
  std::shared_ptr<MemoryPool>& pool = cuda != nullptr ? pinned_staging[cuda->device] : staging;
  if (pool != nullptr) return pool;
  pool = cuda != nullptr ? std::make_shared<MemoryPool>(kernels::pinned_memory(cuda->device))
                         : std::make_shared<MemoryPool>();
  pool->set_remedy([](std::size_t, std::size_t) {
    return "run fewer ranks on a machine, or send shorter messages "
           "(CommunicatorOptions::chunk_bytes)";
  });
  return pool;
}

// ---------------------------------------------------------------- making one

namespace {

constexpr double default_timeout_seconds = 1800;
constexpr Index max_chunk_bytes = Index{1} << 30;

}  // namespace

double timeout_of(const CommunicatorOptions& options) {
  if (std::isnan(options.timeout_seconds))
    throw InputError("the timeout is NaN (must be a number of seconds, 0 for no limit)");
  if (options.timeout_seconds >= 0) return options.timeout_seconds;
  const char* text = std::getenv("ZHALO_TIMEOUT");
  if (text == nullptr) return default_timeout_seconds;
  double seconds = 0;
  const char* const end = text + std::strlen(text);
  const auto [number_end, error] = std::from_chars(text, end, seconds);  // of no locale
  if (error != std::errc() || number_end != end || !(seconds >= 0)) {
    throw InputError(
        fmt::format("ZHALO_TIMEOUT is '{}' (must be a number of seconds, 0 for no limit)", text));
  }
  return seconds;
}

void validate_mpi_runs() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0)
    throw InputError(
        "MPI is not initialised; call MPI_Init first, or default-construct the Communicator of one "
        "rank");
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0)
    throw InputError(
        "MPI is finalised; make the Communicator before MPI_Finalize, or default-construct that of "
        "one rank");
}

namespace {

std::unique_ptr<Network> network_of(MPI_Comm parent) {
  validate_mpi_runs();
  if (parent == MPI_COMM_NULL)
    throw InputError(
        "the MPI communicator is MPI_COMM_NULL; only its members may make a Communicator");
  int is_between_groups = 0;
  MPI_Comm_test_inter(parent, &is_between_groups);
  if (is_between_groups != 0)
    throw InputError(
        "the MPI communicator is one between two groups of ranks; merge them first "
        "(MPI_Intercomm_merge)");
  return make_mpi_network(parent);
}

}  // namespace

Communicator::Communicator(MPI_Comm parent, const CommunicatorOptions& options)
    : Communicator(network_of(parent), options) {}

Communicator make_communicator(std::unique_ptr<Network> network,
                               const CommunicatorOptions& options) {
  return {std::move(network), options};
}

Communicator::Communicator(std::unique_ptr<Network> network, const CommunicatorOptions& options)
    : state_(std::make_shared<State>()),
      rank_(network->layout().rank),
      size_(network->layout().size) {
  state_->network = std::move(network);
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
  return comm.state_ ? comm.state_->network->mpi_comm() : MPI_COMM_NULL;
}

int Communicator::node_rank() const { return state_ ? state_->network->layout().node_rank : 0; }
int Communicator::node_size() const { return state_ ? state_->network->layout().node_size : 1; }
bool Communicator::is_of_threads() const { return state_ && state_->network->is_of_threads(); }
bool Communicator::is_gpu_aware() const { return state_ && state_->gpu_aware; }
Index Communicator::bytes_sent() const { return state_ ? state_->bytes_sent : 0; }

Communicator Communicator::make_part(std::unique_ptr<Network> part) const {
  std::vector<int> names = state_->network->ranks_of(*part);
  for (int& name : names) name = state_->name_of(name);
  Communicator result(std::move(part), state_->options);
  result.state_->gpu_aware = state_->gpu_aware;
  result.state_->gpu_aware_is_claimed = state_->gpu_aware_is_claimed;
  result.state_->names = std::move(names);
  return result;
}

Communicator Communicator::split(int colour) const {
  constexpr const char* operation = "split";
  if (const Index lowest = min(Index{colour}); lowest < 0)
    throw InputError(fmt::format("the colour of a rank is {} (must not be negative)", lowest));
  enter(operation);
  if (state_ == nullptr) return {};
  return make_part(state_->call(operation, [&] { return state_->network->split(colour); }));
}

Communicator Communicator::split_by_machine() const {
  constexpr const char* operation = "split by machine";
  enter(operation);
  if (state_ == nullptr) return {};
  return make_part(state_->call(operation, [&] { return state_->network->split_by_machine(); }));
}

const Communicator& machine_of(const Communicator& comm) {
  if (comm.state_ == nullptr) return comm;
  std::unique_ptr<Communicator>& kept = comm.state_->machine;
  const bool is_usable = kept != nullptr && !kept->is_broken();
  if (comm.min(Index{is_usable ? 1 : 0}) == 0)
    kept = std::make_unique<Communicator>(comm.split_by_machine());
  return *kept;
}

// ---------------------------------------------------------------- reductions

// All room is made before enter(): a rank without memory then tells the others, and does not leave
// them in an operation that it takes no part in.

void Communicator::barrier() const {
  enter("barrier");
  if (state_ != nullptr) state_->finish("barrier", [&] { return state_->network->barrier(); });
}

template <class T>
T Communicator::reduce(T value, RankReduction reduction, const char* operation) const {
  if (state_ == nullptr) return value;
  Wire<T> wire(*state_, 1);
  wire[0] = value;
  enter(operation);
  state_->finish(operation, [&] { return state_->network->reduce(wire.span(), reduction); });
  return wire[0];
}

Index Communicator::sum(Index value) const {
  return reduce(value, RankReduction::sum, "sum over ranks");
}
double Communicator::sum(double value) const {
  return reduce(value, RankReduction::sum, "sum over ranks");
}
Index Communicator::min(Index value) const {
  return reduce(value, RankReduction::min, "minimum over ranks");
}
double Communicator::min(double value) const {
  return reduce(value, RankReduction::min, "minimum over ranks");
}
Index Communicator::max(Index value) const {
  return reduce(value, RankReduction::max, "maximum over ranks");
}
double Communicator::max(double value) const {
  return reduce(value, RankReduction::max, "maximum over ranks");
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
  if (state_ == nullptr) std::fill(values.begin(), values.end(), Index{0});
}

void Communicator::reduce_in_place(Span<Index> values, Prefix prefix, const char* operation) const {
  if (values.data() == nullptr && !values.empty())
    throw InputError(fmt::format("{}: {} elements are given, and their address is null", operation,
                                 values.size()));
  if (state_ == nullptr) return;
  const Index longest =
      std::max<Index>(1, state_->options.chunk_bytes / static_cast<Index>(sizeof(Index)));
  const Index max_num = std::min(longest, values.size());
  const Index num_kinds = prefix == Prefix::yes ? 3 : 1;  // room for numbers on their way
  Wire<Index> wire(*state_, static_cast<std::size_t>(num_kinds * max_num));
  enter(operation);
  for (Index first = 0; first < values.size(); first += max_num) {
    const Span<Index> part = values.subspan(first, std::min(max_num, values.size() - first));
    const Span<Index> sent = wire.span().subspan(0, part.size());
    std::copy(part.begin(), part.end(), sent.begin());
    try {
      state_->finish(operation, [&] {
        return prefix == Prefix::yes ? state_->network->exclusive_sum(
                                           sent, wire.span().subspan(max_num, 2 * part.size()))
                                     : state_->network->reduce(sent, RankReduction::sum);
      });
    } catch (const std::exception& error) {
      state_->give_up(error.what());  // other ranks wait for messages of this one
      throw;
    }
    std::copy(sent.begin(), sent.end(), part.begin());
  }
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  constexpr const char* operation = "broadcast";
  if (root < 0 || root >= size_)
    throw InputError(
        fmt::format("rank {} is to broadcast, and there are ranks 0 to {}", root, size_ - 1));
  if (state_ == nullptr) return text;
  Network& network = *state_->network;
  const auto own_size = static_cast<Index>(text.size());
  Wire<char> length(*state_, sizeof own_size);
  std::memcpy(length.data(), &own_size, sizeof own_size);
  enter(operation);
  state_->finish(operation, [&] { return network.broadcast(length.span(), root); });
  Index size = 0;
  std::memcpy(&size, length.data(), sizeof size);
  Wire<char> characters(*state_, static_cast<std::size_t>(size));
  if (rank_ == root) std::copy(text.begin(), text.end(), characters.data());
  const Index longest = state_->options.chunk_bytes;  // MPI counts in int
  for (Index first = 0; first < size; first += longest) {
    const Span<char> part = characters.span().subspan(first, std::min(longest, size - first));
    enter(operation);
    state_->finish(operation, [&] { return network.broadcast(part, root); });
  }
  return {characters.data(), static_cast<std::size_t>(size)};
}

void Communicator::all_gather_bytes(const void* record, void* all, std::size_t bytes) const {
  constexpr const char* operation = "gathering of records";
  if (state_ == nullptr) {
    std::memcpy(all, record, bytes);
    return;
  }
  const std::size_t all_bytes = bytes * static_cast<std::size_t>(size_);
  Wire<char> send(*state_, bytes);
  Wire<char> received(*state_, all_bytes);
  std::memcpy(send.data(), record, bytes);
  enter(operation);
  state_->finish(operation,
                 [&] { return state_->network->all_gather(send.span(), received.span()); });
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
