// How arrays in device memory travel.
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "src/comm/state.hpp"
#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/timers.hpp"

namespace zhalo {
namespace {

// Whether MPI really takes addresses of devices, where it only says so: one number goes to the next
// rank before anything else does.

constexpr int probe_tag = 4;
constexpr double longest_seconds = 20;

/// Two messages under way, from and to an array of two numbers.
class Probe {
 public:
  Probe(MPI_Comm comm, Index* numbers, int from, int to) {
    ok_ = MPI_Irecv(numbers + 1, 1, MPI_INT64_T, from, probe_tag, comm, &requests_[0]) ==
              MPI_SUCCESS &&
          MPI_Isend(numbers, 1, MPI_INT64_T, to, probe_tag, comm, &requests_[1]) == MPI_SUCCESS;
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe() = default;

  /// False after an error, or if it takes too long.
  bool wait(double seconds) {
    WaitedTime waited;
    while (ok_ && waited.look() < seconds) {
      bool all = true;
      for (MPI_Request& request : requests_) {
        int done = 0;
        ok_ = ok_ && MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        all = all && done != 0;
      }
      if (all) return ok_;
      std::this_thread::yield();
    }
    return false;
  }

  bool is_under_way() const {
    return std::any_of(requests_.begin(), requests_.end(),
                       [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
  }
  /// Lets go of what is still under way. Returns whether MPI may still use the numbers. A receive
  /// ends when it is cancelled, unless its message has begun to come.
  bool abandon(double seconds) {
    if (requests_[0] != MPI_REQUEST_NULL) {
      MPI_Cancel(&requests_[0]);
      WaitedTime waited;
      int done = 0;
      while (done == 0 && waited.look() < seconds &&
             MPI_Test(&requests_[0], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        std::this_thread::yield();
    }
    const bool keeps_numbers = is_under_way();
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    return keeps_numbers;
  }

 private:
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  bool ok_ = false;
};

}  // namespace

void Communicator::probe_gpu_aware(const Exec& exec) const {
  if (!state_->gpu_aware_is_claimed || size_ == 1) return;
  if (max(Index{std::holds_alternative<Cuda>(exec) ? 1 : 0}) == 0) return;
  const kernels::DeviceInUse device(exec);
  const Index before = (rank_ + size_ - 1) % size_;
  const std::vector<Index> numbers{rank_, -1};
  state_->probe_room = to_exec(exec, Span<const Index>(numbers), "a probe of MPI");
  synchronise(exec);  // MPI does not wait for the device
  const double timeout = state_->options.timeout_seconds;
  const double seconds = timeout > 0 ? std::min(longest_seconds, timeout / 2) : longest_seconds;
  barrier();  // are all there?
  Probe probe(mpi_handle(*this), state_->probe_room.data(), static_cast<int>(before),
              (rank_ + 1) % size_);
  bool arrived = probe.wait(seconds);
  state_->has_lost_messages = probe.is_under_way();
  const bool keeps_room = probe.abandon(seconds / 4);  // others wait for this rank meanwhile
  arrived = arrived && to_host(exec, state_->probe_room)[1] == before;
  state_->gpu_aware = min(Index{arrived ? 1 : 0}) == 1;
  state_->gpu_aware_is_claimed = false;
  if (!keeps_room) state_->probe_room = {};
}

// The choice of the transport.

namespace {

/// Whether MPI says that it takes addresses of devices. Open MPI, MPICH and their relatives may
/// have a function for it, in whatever header. Cray's library, one of these, is told by a variable
/// which Open MPI does not read. Other libraries, and static ones, count as unaware.
bool mpi_says_gpu_aware() {
  const bool is_open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr;
  const char* cray = is_open_mpi ? nullptr : std::getenv("MPICH_GPU_SUPPORT_ENABLED");
  if (cray != nullptr) return std::string_view(cray) == "1";
  void* const query = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
  return query != nullptr && reinterpret_cast<int (*)()>(query)() == 1;
}

}  // namespace

Transport chosen_transport(Transport transport) {
  validate_enumerator(transport, Transport::staged, "the transport");
  const char* word = std::getenv("ZHALO_TRANSPORT");
  if (transport != Transport::automatic || word == nullptr) return transport;
  return parse_transport(word);
}

Transport parse_transport(const std::string& word) {
  if (word == "auto") return Transport::automatic;
  if (word == "nccl") return Transport::nccl;
  if (word == "gpu-aware") return Transport::gpu_aware;
  if (word == "staged") return Transport::staged;
  throw InputError(
      fmt::format("the transport is '{}' (must be auto, nccl, gpu-aware or staged)", word));
}

void Communicator::use_transport(Transport transport) const {
  if (state_ == nullptr) return;
  together([&] {
    const Transport chosen = chosen_transport(transport);
    state_->options.transport = chosen;
    const bool is_open = chosen == Transport::automatic || chosen == Transport::nccl;
    const bool of_threads = is_of_threads();
    const bool asks_mpi = is_open && !of_threads;
    const bool gpu_aware = asks_mpi ? mpi_says_gpu_aware() : chosen != Transport::staged;
    const bool has_devices = max(Index{query_devices().num_devices}) > 0;
    // One rank's no is enough.
    state_->gpu_aware = min(Index{gpu_aware ? 1 : 0}) == 1;
    state_->gpu_aware_is_claimed =
        state_->gpu_aware && has_devices && max(Index{asks_mpi ? 1 : 0}) == 1;
    state_->link = {};
    // Threads reach each other's devices without a library.
    const bool may_link = of_threads ? chosen == Transport::nccl : is_open;
    state_->link.is_decided = !has_devices || min(Index{may_link ? 1 : 0}) == 0;
  });
}

Transport Communicator::choose_transport(const Exec& exec) const {
  if (state_ == nullptr || size_ == 1) return Transport::staged;
  LinkedRanks(*this).decide(exec);
  if (state_->link.nccl != nullptr) return Transport::nccl;
  probe_gpu_aware(exec);
  return state_->gpu_aware ? Transport::gpu_aware : Transport::staged;
}

std::string Communicator::describe_transport(const Exec& exec) const {
  const Transport transport = choose_transport(exec);
  if (transport == Transport::nccl) return kernels::nccl_name();
  const char* direct = is_of_threads() ? "copies from device to device" : "GPU-aware MPI";
  const std::string text =
      transport == Transport::gpu_aware ? direct : "staged through host memory";
  const bool has_reason = state_ != nullptr && !state_->link.why_not.empty();
  return has_reason ? fmt::format("{} (no NCCL: {})", text, state_->link.why_not) : text;
}

}  // namespace zhalo
