/// A source of memory for pools that counts what it gives, and has an end.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>

#include "zhalo/core/memory.hpp"

namespace zhalo::testing {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;

/// A small machine: counts what it gives, and has an end.
struct Machine {
  static inline std::size_t total = 0;
  static inline std::size_t given = 0;
  static inline int calls = 0;
  static inline std::map<void*, std::size_t> blocks;

  static void start(std::size_t bytes) {
    total = bytes;
    given = 0;
    calls = 0;
    blocks.clear();
  }
  static void* allocate(std::size_t bytes) {
    if (given + bytes > total) return nullptr;
    void* block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    std::memset(block, 0xab, bytes);
    blocks[block] = bytes;
    given += bytes;
    ++calls;
    return block;
  }
  static void deallocate(void* block) {
    given -= blocks.at(block);
    blocks.erase(block);
    std::free(block);
  }
  static std::size_t available() { return total - given; }
  static MemoryPool::Source source() { return {allocate, deallocate, available, "toy"}; }
  /// As of devices.
  static MemoryPool::Source arena() {
    MemoryPool::Source of_device = source();
    of_device.keep_share = 2;
    of_device.repeats = true;
    return of_device;
  }
};

}  // namespace zhalo::testing
