// How arrays in device memory travel.
#include <fmt/format.h>

#include <cstdlib>

#include "src/comm/state.hpp"
#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

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
