/// The memory of the emulated devices.
///
/// Each device has a range of addresses of its own. A block ends where a page ends, as closely as
/// the alignment of a device's blocks allows; the pages around it, and those of freed blocks, can
/// never be touched, and what is left of its first and last page holds a pattern that is looked at
/// after each operation. The host can touch a device's memory only inside an AccessScope. Fresh
/// memory is full of 0xff: NaN, and indices that are out of every range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/device/runtime/settings.hpp"

namespace zhalo::emulated {

inline constexpr unsigned char fresh_byte = 0xff;

/// One device's memory.
class DeviceMemory {
 public:
  DeviceMemory(int device, std::size_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// nullptr if there is no room.
  void* allocate(std::size_t bytes);
  /// False if no block begins there.
  bool deallocate(void* block);

  std::size_t bytes() const { return bytes_; }
  std::size_t available() const;
  std::size_t num_blocks() const;
  bool contains(const void* address) const;
  /// That [begin, begin + bytes) lies in one block; stops otherwise.
  void check_range(const void* begin, std::size_t bytes, const char* what) const;
  /// Stops if something was written around a block that was touched since open().
  void check_patterns() const;
  /// Such as "8 bytes behind the end of a block of 4096 bytes of device 0".
  std::string describe(const void* address) const;

  /// The host may touch blocks between these two, which nest.
  void open();
  void close();
  /// Whether an access that the hardware refused may be tried again: the first one to a block while
  /// the memory is open.
  bool let_in(const void* address);

 private:
  struct Block {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    std::uintptr_t first_page = 0;
    std::uintptr_t last_page = 0;  ///< behind the last one

    bool is_open = false;

    std::uintptr_t end() const { return begin + bytes; }
  };
  using Blocks = std::map<std::uintptr_t, Block>;  ///< by first page

  std::uintptr_t find_gap(std::size_t bytes) const;
  const Block* block_at(const Blocks& blocks, std::uintptr_t address) const;
  void protect(const Block& block, int rights) const;
  void fill_pattern(const Block& block) const;
  void forbid_surroundings(const Block& block) const;

  int device_;
  std::size_t bytes_;
  std::uintptr_t range_ = 0;
  std::uintptr_t cursor_ = 0;  ///< the next block comes behind it: freed ones stay unused for long
  std::size_t used_ = 0;
  int open_ = 0;
  std::vector<Block*> open_blocks_;
  Blocks blocks_;
  Blocks freed_;  ///< whose addresses have not been used again
  mutable std::recursive_mutex mutex_;
};

DeviceMemory& memory_of(int device);
/// The device whose memory this address lies in, or -1.
int device_of(const void* address);

/// The host, and the kernels that it runs, may touch one device's memory while this lives. What
/// `operation` wrote around blocks is found in the end.
class AccessScope {
 public:
  explicit AccessScope(int device) : memory_(memory_of(device)) { memory_.open(); }
  ~AccessScope() { memory_.close(); }
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;

 private:
  DeviceMemory& memory_;
};

}  // namespace zhalo::emulated
