#include "zhalo/core/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

constexpr std::size_t alignment = 64;
/// Smaller requests are not worth a look at what is available.
constexpr std::size_t large_request = std::size_t{64} << 20;

void* allocate_host(std::size_t bytes) { return std::aligned_alloc(alignment, bytes); }
void deallocate_host(void* block) { std::free(block); }

/// MemAvailable of /proc/meminfo; Linux grants requests beyond it and kills the process when they are used.
std::size_t available_host() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::size_t>::max();
}

std::size_t rounded_up(std::size_t bytes) { return std::max(alignment, (bytes + alignment - 1) / alignment * alignment); }

double gibibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

}  // namespace

MemoryPool::MemoryPool() : MemoryPool(Source{allocate_host, deallocate_host, available_host, "host"}) {}
MemoryPool::MemoryPool(Source source) : source_(source) {}

MemoryPool::~MemoryPool() { release(); }

void* MemoryPool::allocate(std::size_t bytes, std::string_view purpose) {
  bytes = rounded_up(bytes);
  const std::lock_guard lock(mutex_);
  void* block = take_kept_locked(bytes);
  if (block == nullptr) {
    make_room_locked(bytes);
    const bool fits = bytes < large_request || bytes <= source_.available();
    block = fits ? source_.allocate(bytes) : nullptr;
    if (block == nullptr) {
      throw OutOfMemory(fmt::format(
          "out of {} memory: {:.3f} GiB are needed for {}, {:.3f} GiB are available and zhalo already uses {:.3f} GiB; "
          "use more ranks or a machine with more memory",
          source_.name, gibibytes(bytes), purpose, gibibytes(source_.available()), gibibytes(in_use_)));
    }
    used_[block] = bytes;
  }
  in_use_ += used_[block];
  peak_ = std::max(peak_, in_use_);
  return block;
}

/// The smallest kept block that fits without wasting more than an eighth.
void* MemoryPool::take_kept_locked(std::size_t bytes) {
  const auto found = kept_.lower_bound(bytes);
  if (found == kept_.end() || found->first > bytes + bytes / 8 + 4096) return nullptr;
  void* block = found->second;
  used_[block] = found->first;
  kept_bytes_ -= found->first;
  kept_.erase(found);
  return block;
}

/// Frees kept blocks, largest first, until kept and used ones together stay within the peak of what was ever in use: reuse between
/// calls costs no memory beyond what one call needs.
void MemoryPool::make_room_locked(std::size_t bytes) noexcept {
  const std::size_t allowed = std::max(peak_, in_use_ + bytes);
  while (!kept_.empty() && in_use_ + bytes + kept_bytes_ > allowed) {
    const auto largest = std::prev(kept_.end());
    source_.deallocate(largest->second);
    kept_bytes_ -= largest->first;
    kept_.erase(largest);
  }
}

void MemoryPool::deallocate(void* block) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(block);
  if (found == used_.end()) return;
  in_use_ -= found->second;
  kept_.emplace(found->second, block);
  kept_bytes_ += found->second;
  used_.erase(found);
}

void MemoryPool::release() noexcept {
  const std::lock_guard lock(mutex_);
  release_locked();
}

void MemoryPool::release_locked() noexcept {
  for (const auto& [bytes, block] : kept_) source_.deallocate(block);
  kept_.clear();
  kept_bytes_ = 0;
}

std::size_t MemoryPool::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

std::size_t MemoryPool::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void MemoryPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_ = in_use_;
}

}  // namespace zhalo
