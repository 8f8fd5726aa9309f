// Whether MPI really takes addresses of devices, where it only says so: one number goes to the next rank before anything else does.
#include <mpi.h>

#include <array>
#include <chrono>
#include <thread>

#include "kernels/kernels.hpp"
#include "src/comm/state.hpp"

namespace zhalo {
namespace {

constexpr int probe_tag = 4;
constexpr std::chrono::seconds longest{20};

/// Two messages under way, from and to an array of two numbers.
class Probe {
 public:
  Probe(MPI_Comm comm, Index* numbers, int from, int to) {
    ok_ = MPI_Irecv(numbers + 1, 1, MPI_INT64_T, from, probe_tag, comm, &requests_[0]) == MPI_SUCCESS &&
          MPI_Isend(numbers, 1, MPI_INT64_T, to, probe_tag, comm, &requests_[1]) == MPI_SUCCESS;
  }
  ~Probe() {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// False after an error, or if it takes too long.
  bool wait() {
    const auto end = std::chrono::steady_clock::now() + longest;
    while (ok_ && std::chrono::steady_clock::now() < end) {
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
  barrier();  // are all there?
  bool arrived = Probe(state_->comm, state_->probe_room.data(), static_cast<int>(before), (rank_ + 1) % size_).wait();
  arrived = arrived && to_host(exec, state_->probe_room)[1] == before;
  state_->gpu_aware = min(Index{arrived ? 1 : 0}) == 1;
  state_->gpu_aware_is_claimed = false;
  if (arrived) state_->probe_room = {};
}

}  // namespace zhalo
