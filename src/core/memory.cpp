#include "zhalo/core/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

namespace {

/// Of blocks: whole cache lines on the host, whole memory transactions on a device.
constexpr std::size_t alignment = 256;
/// A free part serves a request that needs at least this share of it: small blocks that stay do not
/// cut up the large ones.
constexpr std::size_t smallest_share = 16;
/// Smaller requests are not worth a look at what is available.
constexpr std::size_t large_request = std::size_t{64} << 20;

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Large blocks ask for huge pages, of which a processor remembers more of the memory that it
/// gathers from. Only whole ones: what is behind them takes no more memory than it needs.
void* allocate_host(std::size_t bytes) {
  const bool is_large = bytes >= 2 * huge_page;
  void* block = nullptr;
  if (::posix_memalign(&block, is_large ? huge_page : alignment, bytes) != 0) return nullptr;
  if (is_large) ::madvise(block, bytes / huge_page * huge_page, MADV_HUGEPAGE);
  return block;
}
void deallocate_host(void* block) { std::free(block); }

/// Of the addresses of this process (ulimit -v), in bytes.
std::optional<std::size_t> address_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::size_t>(limit.rlim_cur);
}

/// Addresses that this process has taken.
std::size_t address_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t rounded_up(std::size_t bytes) {
  return std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
}

double gibibytes(std::size_t bytes) {
  return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0);
}

}  // namespace

/// MemAvailable of /proc/meminfo; Linux grants requests beyond it and kills the process when they
/// are used.
std::size_t available_machine_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::size_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::size_t>::max();
}

std::size_t available_host_bytes() {
  const std::size_t on_machine = available_machine_bytes();
  const auto limit = address_limit();
  return limit ? std::min(on_machine, *limit - std::min(*limit, address_bytes())) : on_machine;
}

std::string describe_memory_limit() {
  const auto limit = address_limit();
  return limit ? fmt::format(" within the limit of {:.3f} GiB on this process (ulimit -v)",
                             gibibytes(*limit))
               : "";
}

MemoryPool::MemoryPool()
    : MemoryPool(Source{allocate_host, deallocate_host, available_host_bytes, "host",
                        describe_memory_limit}) {}
MemoryPool::MemoryPool(Source source) : source_(source) {}

MemoryPool::~MemoryPool() { release(); }

void* MemoryPool::allocate(std::size_t bytes, std::string_view purpose) {
  bytes = source_.separate ? std::max(bytes, std::size_t{1}) : rounded_up(bytes);
  const std::lock_guard lock(mutex_);
  char* block = take_locked(bytes);
  if (block == nullptr) block = grow_locked(bytes);
  if (block == nullptr) throw OutOfMemory(shortage_locked(bytes, purpose));
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  return block;
}

/// Takes a new chunk from the source, or whatever there is if it has none; or null. Reuse between
/// calls costs little memory beyond what one call needs: unused chunks are given back until what is
/// held is within a share of the peak of what was in use.
char* MemoryPool::grow_locked(std::size_t bytes) {
  const std::size_t needed = std::max({peak_, peak_before_reset_, in_use_ + bytes});
  const auto share = static_cast<std::size_t>(source_.keep_share * static_cast<double>(needed));
  release_locked(std::max({share, source_.keep_bytes, bytes}) - bytes);
  if (add_chunk_locked(bytes)) return take_locked(bytes);
  release_locked(0);
  if (add_chunk_locked(bytes)) return take_locked(bytes);
  return take_locked(bytes, AnyPart::yes);
}

std::string MemoryPool::shortage_locked(std::size_t bytes, std::string_view purpose) const {
  const std::string block = source_.device < 0 ? "" : fmt::format(" of device {}", source_.device);
  const std::size_t available = source_.available();
  const bool is_known = available != std::numeric_limits<std::size_t>::max();
  const std::string what_there_is =
      is_known ? fmt::format(", {:.3f} GiB are available", gibibytes(available)) : "";
  return fmt::format(
      "out of {} memory{}: {:.3f} GiB are needed for {}{}{} and zhalo already uses {:.3f} GiB; {}",
      source_.name, block, gibibytes(bytes), purpose, what_there_is,
      source_.limit == nullptr ? "" : source_.limit(), gibibytes(in_use_),
      remedy_ ? remedy_(in_use_ + bytes, held_ + available)
              : "use more ranks or a machine with more memory");
}

/// A free part that is large enough, or null. The first one, in the order of chunks; or the
/// smallest one, unless that is far too large and not any part will do.
char* MemoryPool::find_locked(std::size_t bytes, AnyPart any) const {
  if (source_.repeats) {
    const auto fits = [&](const auto& block) { return parts_.at(block.second).bytes >= bytes; };
    const auto first = std::find_if(free_.begin(), free_.end(), fits);
    return first == free_.end() ? nullptr : first->second;
  }
  const auto found = free_.lower_bound({bytes, nullptr});
  if (found == free_.end()) return nullptr;
  if (any == AnyPart::no && found->first / smallest_share > bytes) return nullptr;
  return found->second;
}

/// The front of a free part, or null.
char* MemoryPool::take_locked(std::size_t bytes, AnyPart any) {
  char* block = find_locked(bytes, any);
  if (block == nullptr) return nullptr;
  const auto found = parts_.find(block);
  free_.erase(entry_locked(found));
  Part& part = found->second;
  if (part.bytes > bytes) {
    const auto rest = parts_.emplace(block + bytes, Part{part.bytes - bytes, false, part.chunk});
    free_.insert(entry_locked(rest.first));
  }
  part.bytes = bytes;
  part.used = true;
  return block;
}

bool MemoryPool::add_chunk_locked(std::size_t bytes) {
  if (bytes >= large_request && bytes > source_.available()) return false;
  char* chunk = static_cast<char*>(source_.allocate(bytes));
  if (chunk == nullptr) return false;
  const std::size_t number = num_chunks_made_++;
  chunks_[chunk] = {bytes, number};
  free_.insert(entry_locked(parts_.emplace(chunk, Part{bytes, false, number}).first));
  held_ += bytes;
  peak_held_ = std::max(peak_held_, held_);
  return true;
}

/// The entry of a free part in free_.
std::pair<std::size_t, char*> MemoryPool::entry_locked(Parts::const_iterator part) const {
  return {source_.repeats ? part->second.chunk : part->second.bytes, part->first};
}

void MemoryPool::deallocate(void* block) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = parts_.find(static_cast<char*>(block));
  if (found == parts_.end() || !found->second.used || found->second.abandoned) return;
  found->second.used = false;
  in_use_ -= found->second.bytes;
  free_.insert(entry_locked(found));
  if (std::next(found) != parts_.end()) join_locked(found, std::next(found));
  if (found != parts_.begin()) join_locked(std::prev(found), found);
  if (source_.separate) release_locked(0);
}

void MemoryPool::abandon_used() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& [block, part] : parts_) part.abandoned = part.used;
}

/// Makes one part of two if both are free and in one chunk.
void MemoryPool::join_locked(Parts::iterator left, Parts::iterator right) {
  if (left->second.used || right->second.used || chunks_.contains(right->first)) return;
  free_.erase(entry_locked(left));
  free_.erase(entry_locked(right));
  left->second.bytes += right->second.bytes;
  free_.insert(entry_locked(left));
  parts_.erase(right);
}

void MemoryPool::release() noexcept {
  std::map<std::type_index, std::shared_ptr<void>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(kept_);
  release_locked(0);
}

void MemoryPool::release_unused() noexcept {
  const std::lock_guard lock(mutex_);
  release_locked(0);
}

/// Gives chunks back until no more than so many bytes are held, those first that stand last among
/// the free parts: the largest, or the newest. Those with a block in use stay.
void MemoryPool::release_locked(std::size_t bytes_to_hold) noexcept {
  for (auto last = free_.end(); last != free_.begin() && held_ > bytes_to_hold;) {
    char* const begin = (--last)->second;
    const auto chunk = chunks_.find(begin);
    if (chunk == chunks_.end() || chunk->second.bytes != parts_.at(begin).bytes) continue;
    source_.deallocate(begin);
    held_ -= chunk->second.bytes;
    chunks_.erase(chunk);
    parts_.erase(begin);
    last = free_.erase(last);
  }
}

std::size_t MemoryPool::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

std::size_t MemoryPool::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

std::size_t MemoryPool::bytes_held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

std::size_t MemoryPool::peak_held() const {
  const std::lock_guard lock(mutex_);
  return peak_held_;
}

std::size_t MemoryPool::available_bytes() const {
  const std::lock_guard lock(mutex_);
  const std::size_t of_system = source_.available();
  const std::size_t unused = held_ - in_use_;
  return of_system > std::numeric_limits<std::size_t>::max() - unused ? of_system
                                                                      : of_system + unused;
}

void MemoryPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_before_reset_ = std::exchange(peak_, in_use_);
  peak_held_ = held_;
}

MemoryPool::Remedy MemoryPool::set_remedy(Remedy remedy) {
  const std::lock_guard lock(mutex_);
  return std::exchange(remedy_, std::move(remedy));
}

namespace {

void validate_copy(const void* to, const void* from, std::size_t bytes) {
  if (to == nullptr || from == nullptr)
    throw InputError(
        fmt::format("{} bytes are to be copied {} null", bytes, to == nullptr ? "to" : "from"));
}

}  // namespace

void copy_bytes(const Exec& exec, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  validate_copy(to, from, bytes);
  kernels::on(exec, [&](const auto& e) { kernels::copy_bytes(e, to, from, bytes); });
}

void queue_copy(const Exec& exec, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  validate_copy(to, from, bytes);
  kernels::on(exec, [&](const auto& e) { kernels::queue_copy(e, to, from, bytes); });
}

}  // namespace zhalo
