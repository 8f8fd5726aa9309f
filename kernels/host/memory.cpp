// Copies and cores of the host, and how functors of the user's run there. In a build without CUDA
// also that there are no devices.
#include "kernels/memory.hpp"

#include <cstring>
#include <memory>
#include <vector>

#ifndef ZHALO_STD_THREADS
#include <omp.h>
#endif

#include "kernels/host/parallel.hpp"
#include "kernels/nccl.hpp"
#include "kernels/on.hpp"

namespace zhalo::kernels {

// Copies.

namespace {

class CopiesAtOnce final : public CopyQueue {
 public:
  void follow() override {}
  Index begin(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
    return num_begun_++;
  }
  bool is_done(Index number) override { return number < num_begun_; }

 private:
  Index num_begun_ = 0;
};

}  // namespace

std::unique_ptr<CopyQueue> make_copy_queue(const Host&, int) {
  return std::make_unique<CopiesAtOnce>();
}

void copy_bytes(const Host&, void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void copy_from_any_device(const Host& exec, void* to, const void* from, std::size_t bytes) {
  copy_bytes(exec, to, from, bytes);
}

void queue_copy(const Host& exec, void* to, const void* from, std::size_t bytes) {
  copy_bytes(exec, to, from, bytes);
}

// Cores.

namespace {

/// The cores of all places to which OpenMP binds the threads of loops; a core may appear twice.
/// Empty if it binds none.
std::vector<int> cores_of_bound_threads() {
  std::vector<int> cores;
#ifndef ZHALO_STD_THREADS
  if (omp_get_proc_bind() == omp_proc_bind_false) return cores;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> of_place(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, of_place.data());
    cores.insert(cores.end(), of_place.begin(), of_place.end());
  }
#endif
  return cores;
}

}  // namespace

std::optional<cpu_set_t> cores_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const std::vector<int> bound = cores_of_bound_threads();
  for (const int core : bound) {
    if (core < 0 || core >= CPU_SETSIZE) return std::nullopt;
    CPU_SET(static_cast<std::size_t>(core), &set);
  }
  if (bound.empty() && sched_getaffinity(0, sizeof set, &set) != 0) return std::nullopt;
  return set;
}

void run_blocks(const Host& exec, Index num, Index block, const RangeFunction& function) {
  for_each_block(exec, num, block,
                 [&](Index first, Index last) { function.call(function.object, first, last); });
}

#ifndef ZHALO_WITH_CUDA

// Memory and devices in a build without CUDA: there are none.

namespace {

[[noreturn]] void refuse() { throw DeviceError(no_cuda); }

}  // namespace

void wait(const Cuda&) noexcept {}
void synchronise(const Cuda&) { refuse(); }
MemoryPool::Source device_memory(int) { refuse(); }
MemoryPool::Source pinned_memory(int) { refuse(); }
MemoryOwner owner_of(const Cuda&, const void*) { refuse(); }
void connect_devices(const std::vector<int>&) {}
void disconnect_devices(const std::vector<int>&) {}
DeviceInUse::DeviceInUse(const Exec&) {}
DeviceReport query_devices() { return {false, 0, "", no_cuda}; }
void select_device(int) { refuse(); }
std::string device_name(int) { refuse(); }
std::string why_no_nccl() { return no_cuda; }
std::string nccl_name() { refuse(); }
NcclLink::Id make_nccl_id() { refuse(); }
std::unique_ptr<NcclLink> make_nccl_link(const Cuda&, const NcclLink::Id&, const NcclRank&) {
  refuse();
}
DeviceId device_id(int) { refuse(); }

#endif

}  // namespace zhalo::kernels
