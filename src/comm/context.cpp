#include "zhalo/comm/context.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "kernels/memory.hpp"
#include "src/comm/state.hpp"
#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {
// The choice of the processor.

namespace {

constexpr int max_threads = 4096;

/// 0: the fair share.
int threads_wanted(const ExecRequest& request) {
  const int wanted = request.threads < 0 ? threads_of_environment() : request.threads;
  if (wanted > max_threads)
    throw InputError(
        fmt::format("number of threads is {} (must be at most {})", wanted, max_threads));
  return wanted;
}

Exec choose_here(const ExecRequest& request, int node_rank, int fair) {
  validate_enumerator(request.processor, Processor::cuda, "the processor");
  const bool on_host = request.processor == Processor::host;
  const bool names_device = request.device >= 0;
  validate(!on_host || !names_device,
           "device {} is asked for, and the host as the processor; ask for one of them",
           request.device);
  const int threads = threads_wanted(request);
  const int devices = on_host ? 0 : query_devices().num_devices;
  const bool needs_device = names_device || request.processor == Processor::cuda;
  if (!needs_device && devices == 0) return host_exec(threads > 0 ? threads : fair);
  const int turn = devices > 0 ? node_rank % devices : 0;
  return cuda_exec(request.device < 0 ? turn : request.device);
}

}  // namespace

int fair_threads_of(const cpu_set_t& mine, const std::vector<cpu_set_t>& all) {
  double share = 0;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &mine)) continue;
    const auto users = std::count_if(
        all.begin(), all.end(), [&](const cpu_set_t& set) { return CPU_ISSET(core, &set) != 0; });
    share += 1.0 / static_cast<double>(users);
  }
  return std::max(1, static_cast<int>(share + 1e-6));  // eight eighths are one
}

int fair_threads(const Communicator& comm) {
  const Communicator machine = comm.split_by_machine();
  const std::optional<cpu_set_t> known = kernels::cores_of_process();
  const cpu_set_t mine = known.value_or(cpu_set_t{});
  // An error of one rank must first reach those that wait for it on this machine.
  return together(machine, [&] {
    const std::vector<cpu_set_t> all = machine.all_gather(mine);
    if (machine.min(Index{known ? 1 : 0}) == 0)  // divided evenly
      return std::max(1, available_threads() / machine.size());
    return fair_threads_of(mine, all);
  });
}

Exec choose_exec(const Communicator& comm, const ExecRequest& request) {
  return together(comm, [&] {
    const int fair = fair_threads(comm);
    return choose_here(request, comm.node_rank(), fair);
  });
}

// Particles beyond the memory of devices.

namespace {

double gibibytes(double bytes) { return bytes / (1 << 30); }

/// Part of a predicted need that must be there: predictions are right within a tenth.
constexpr double certain = 0.9;
/// Of what is in use, with what is free between blocks (docs/decisions.md).
constexpr double with_gaps = 4.0 / 3;

/// Work on a rank's device.
struct Work {
  NeedOfRanks need;
  int num_ranks;
  double in_use;  ///< by zhalo, when the work begins

  /// On a rank among so many. What was in use is divided among more ranks, too. `excess`: how much
  /// more is needed than was predicted.
  bool fits(int ranks, double capacity, double excess) const {
    return with_gaps * (in_use * num_ranks / ranks + excess * need(ranks)) <= capacity;
  }
  /// The fewest ranks that do; 0 if no number does.
  int fewest(double capacity, double excess) const {
    constexpr int max_devices = 1 << 20;
    int last = num_ranks;
    int next = num_ranks + 1;
    while (next <= max_devices && !fits(next, capacity, excess)) {
      last = next;
      next *= 2;
    }
    if (next > max_devices) return 0;
    while (next - last > 1) {
      const int middle = last + (next - last) / 2;
      (fits(middle, capacity, excess) ? next : last) = middle;
    }
    return next;
  }
  std::string remedy(double capacity, double excess) const {
    const int devices = fewest(capacity, excess);
    if (devices == 0) return "no number of devices of this memory would do: use the host";
    return fmt::format(
        "{} devices of this memory would do, with one rank for each; or use the host", devices);
  }
};

/// Before anything is queried: repeated calls find their memory in the pool.
bool has_room(const MemoryPool& pool, double bytes) {
  return bytes <= static_cast<double>(pool.bytes_held() - pool.bytes_in_use()) ||
         bytes <= static_cast<double>(pool.available_bytes());
}

}  // namespace

DeviceMemoryScope::DeviceMemoryScope(const Context& context, const std::string& work,
                                     const NeedOfRanks& need) {
  const auto* cuda = std::get_if<Cuda>(&context.exec);
  if (cuda == nullptr) return;
  MemoryPool& pool = *memory(context.exec);
  const Work asked{need, context.comm.size(), static_cast<double>(pool.bytes_in_use())};
  const double needed = need(asked.num_ranks);
  if (!has_room(pool, certain * needed)) {
    const auto available = static_cast<double>(pool.available_bytes());
    throw OutOfMemory(fmt::format(
        "out of CUDA device memory: {} need {:.3f} GiB of each of {} device{}, {:.3f} GiB are "
        "available on device {} and zhalo already uses {:.3f} GiB; {}",
        work, gibibytes(needed), asked.num_ranks, asked.num_ranks == 1 ? "" : "s",
        gibibytes(available), cuda->device, gibibytes(asked.in_use),
        asked.remedy(asked.in_use + available, 1)));
  }
  MemoryPool::Remedy before =
      pool.set_remedy([asked, needed](std::size_t wanted, std::size_t capacity) {
        const double beyond = static_cast<double>(wanted) - asked.in_use;
        return asked.remedy(static_cast<double>(capacity),
                            std::max(1.0, needed > 0 ? beyond / needed : 1.0));
      });
  if (before) {
    pool.set_remedy(std::move(before));
  } else {
    pool_ = memory(context.exec);
  }
}

DeviceMemoryScope::~DeviceMemoryScope() {
  if (pool_) pool_->set_remedy({});
}

}  // namespace zhalo
