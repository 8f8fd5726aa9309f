#include "tests/device/runtime/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/sanitizer.hpp"
#include "tests/device/runtime/traps.hpp"

namespace zhalo::emulated {
namespace {

constexpr std::uintptr_t page = 4096;
constexpr std::size_t range_bytes = std::size_t{64} << 30;  // of addresses, which cost nothing
constexpr std::uintptr_t margin = 1 << 20;                  // of addresses without blocks
constexpr std::size_t block_alignment = 256;                // cudaMalloc promises so much
constexpr std::uintptr_t pattern_bytes = 256;  // that are looked at on each side of a block
constexpr unsigned char pattern = 0xa5;

std::uintptr_t rounded_up(std::uintptr_t value, std::uintptr_t unit) {
  return (value + unit - 1) / unit * unit;
}

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// First byte of [begin, end) without the pattern, or end.
std::uintptr_t first_changed(std::uintptr_t begin, std::uintptr_t end) {
  const auto* bytes = static_cast<const volatile unsigned char*>(pointer(begin));
  std::uintptr_t at = begin;
  while (at < end && bytes[at - begin] == pattern) ++at;
  return at;
}

std::vector<std::unique_ptr<DeviceMemory>>& all_memory() {
  static auto& all = *[] {  // never destroyed: Buffers may outlive everything else
    auto* made = new std::vector<std::unique_ptr<DeviceMemory>>;
    for (int device = 0; device < settings().num_devices; ++device)
      made->push_back(std::make_unique<DeviceMemory>(device, settings().bytes_per_device));
    return made;
  }();
  return all;
}

}  // namespace

DeviceMemory& memory_of(int device) { return *all_memory().at(static_cast<std::size_t>(device)); }

int device_of(const void* address) {
  for (int device = 0; device < settings().num_devices; ++device)
    if (memory_of(device).contains(address)) return device;
  return -1;
}

DeviceMemory::DeviceMemory(int device, std::size_t bytes) : device_(device), bytes_(bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* range = mmap(nullptr, range_bytes, PROT_NONE, flags, -1, 0);
  if (range == MAP_FAILED) stop("no addresses for the memory of a device");
  range_ = address_of(range);
  cursor_ = range_ + margin;
  watch_for_traps();
}

bool DeviceMemory::contains(const void* address) const {
  return address_of(address) - range_ < range_bytes;
}

std::size_t DeviceMemory::available() const {
  const std::lock_guard lock(mutex_);
  return bytes_ - used_;
}

std::size_t DeviceMemory::num_blocks() const {
  const std::lock_guard lock(mutex_);
  return blocks_.size();
}

/// Addresses between blocks, from the cursor on, then from the beginning; 0 if there are none.
std::uintptr_t DeviceMemory::find_gap(std::size_t bytes) const {
  for (const std::uintptr_t from : {cursor_, range_ + margin}) {
    std::uintptr_t begin = from;
    for (auto next = blocks_.lower_bound(from); next != blocks_.end(); ++next) {
      if (begin + bytes <= next->second.first_page - page) break;
      begin = next->second.last_page + page;
    }
    if (begin + bytes <= range_ + range_bytes - margin) return begin;
  }
  return 0;
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > bytes_ - used_) return nullptr;
  const std::size_t room = rounded_up(std::max(bytes, std::size_t{1}), block_alignment);
  const std::size_t pages = rounded_up(room, page);
  const std::uintptr_t gap = find_gap(pages + 2 * page);
  if (gap == 0) return nullptr;

  Block block;
  block.first_page = gap + page;
  block.last_page = block.first_page + pages;
  block.begin = block.last_page - room;
  block.bytes = bytes;
  cursor_ = block.last_page + page;
  freed_.erase(freed_.lower_bound(gap), freed_.lower_bound(cursor_));
  used_ += bytes;
  protect(block, PROT_READ | PROT_WRITE);
  sanitizer::allow(pointer(block.first_page), pages);
  std::memset(pointer(block.begin), fresh_byte, bytes);
  fill_pattern(block);
  forbid_surroundings(block);
  protect(block, PROT_NONE);
  blocks_[block.first_page] = block;
  open_blocks_.reserve(blocks_.size());  // let_in() is called by a handler of a signal
  return pointer(block.begin);
}

bool DeviceMemory::deallocate(void* freed) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t address = address_of(freed);
  const auto found = blocks_.find(address / page * page);
  if (found == blocks_.end() || found->second.begin != address) return false;
  const Block block = found->second;
  const std::size_t pages = block.last_page - block.first_page;
  protect(block, PROT_NONE);
  madvise(pointer(block.first_page), pages, MADV_DONTNEED);
  sanitizer::forbid(pointer(block.first_page), pages);
  used_ -= block.bytes;
  std::erase(open_blocks_, &found->second);
  freed_[block.first_page] = block;
  blocks_.erase(found);
  return true;
}

void DeviceMemory::protect(const Block& block, int rights) const {
  if (mprotect(pointer(block.first_page), block.last_page - block.first_page, rights) != 0)
    stop("the memory of a device cannot be protected");
}

void DeviceMemory::fill_pattern(const Block& block) const {
  const std::uintptr_t front = std::min(block.begin - block.first_page, pattern_bytes);
  std::memset(pointer(block.begin - front), pattern, front);
  std::memset(pointer(block.end()), pattern, block.last_page - block.end());
}

void DeviceMemory::forbid_surroundings(const Block& block) const {
  sanitizer::forbid(pointer(block.first_page - page), page + block.begin - block.first_page);
  sanitizer::forbid(pointer(block.end()), page + block.last_page - block.end());
}

void DeviceMemory::open() {
  const std::lock_guard lock(mutex_);
  if (open_++ > 0) return;
  watch_for_traps();
  // A lane that waits for the lock of let_in() would be ordered behind others, and hide a race.
  if (!sanitizer::finds_races) return;
  for (const auto& [first, block] : blocks_) let_in(pointer(first));
}

/// Most operations touch few of the blocks: to open all of them for each would take far longer.
bool DeviceMemory::let_in(const void* address) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t at = address_of(address);
  const auto next = blocks_.upper_bound(at);
  if (open_ == 0 || next == blocks_.begin()) return false;
  Block& block = std::prev(next)->second;
  if (at >= block.last_page) return false;
  if (block.is_open) return true;  // by another thread, in the meantime
  protect(block, PROT_READ | PROT_WRITE);
  block.is_open = true;
  open_blocks_.push_back(&block);
  return true;
}

void DeviceMemory::close() {
  const std::lock_guard lock(mutex_);
  if (--open_ > 0) return;
  for (Block* block : open_blocks_) {
    protect(*block, PROT_NONE);
    block->is_open = false;
  }
  open_blocks_.clear();
}

void DeviceMemory::check_patterns() const {
  const std::lock_guard lock(mutex_);
  for (const Block* block : open_blocks_) {
    const std::uintptr_t front = std::min(block->begin - block->first_page, pattern_bytes);
    std::uintptr_t changed = first_changed(block->begin - front, block->begin);
    if (changed == block->begin) changed = first_changed(block->end(), block->last_page);
    if (changed != block->last_page) stop("something was written " + describe(pointer(changed)));
  }
}

const DeviceMemory::Block* DeviceMemory::block_at(const Blocks& blocks,
                                                  std::uintptr_t address) const {
  const auto next = blocks.upper_bound(address + page);  // the page in front belongs to it, too
  if (next == blocks.begin()) return nullptr;
  const Block& block = std::prev(next)->second;
  return address < block.last_page + page ? &block : nullptr;
}

void DeviceMemory::check_range(const void* begin, std::size_t bytes, const char* what) const {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t address = address_of(begin);
  const Block* block = block_at(blocks_, address);
  const bool inside =
      block != nullptr && address >= block->begin && address + bytes <= block->end();
  if (!inside)
    stop(std::string(what) + " of " + std::to_string(bytes) + " bytes " + describe(begin));
}

std::string DeviceMemory::describe(const void* address) const {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t at = address_of(address);
  const std::string of_device = " of device " + std::to_string(device_);
  const auto whole = [&](const Block& block, const char* kind) {
    return std::string(kind) + " of " + std::to_string(block.bytes) + " bytes" + of_device;
  };
  const Block* block = block_at(blocks_, at);
  const bool is_freed = block == nullptr;
  if (is_freed) block = block_at(freed_, at);
  if (block == nullptr) return "where nothing is" + of_device;
  const char* kind = is_freed ? "a freed block" : "a block";
  if (at < block->begin)
    return std::to_string(block->begin - at) + " bytes before " + whole(*block, kind);
  if (at >= block->end()) {
    return std::to_string(at - block->end()) + " bytes behind the end of " + whole(*block, kind);
  }
  return "at byte " + std::to_string(at - block->begin) + " of " + whole(*block, kind);
}

}  // namespace zhalo::emulated
