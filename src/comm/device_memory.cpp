#include "zhalo/comm/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "zhalo/core/error.hpp"

namespace zhalo {
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
