/// Where Buffers take their memory from: counted, reused, and honest about running out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

namespace zhalo {

/// Keeps freed blocks for the next call, so that repeated searches neither allocate nor touch fresh pages; counts what is in use.
///
/// Thread-safe. One pool serves host or device blocks, by the functions that it was made with. It must outlive its Buffers.
class MemoryPool {
 public:
  /// Functions that really allocate and free. `allocate` returns nullptr when memory is gone; `available` returns bytes.
  struct Source {
    void* (*allocate)(std::size_t bytes) = nullptr;
    void (*deallocate)(void* block) = nullptr;
    std::size_t (*available)() = nullptr;
    const char* name = "";
  };

  /// Host memory, 64-byte aligned.
  MemoryPool();
  explicit MemoryPool(Source source);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// A block of at least `bytes` bytes; `purpose` names it in the message of OutOfMemory.
  void* allocate(std::size_t bytes, std::string_view purpose);
  void deallocate(void* block) noexcept;

  /// Gives kept blocks back to the system.
  void release() noexcept;

  std::size_t bytes_in_use() const;
  std::size_t peak_bytes() const;
  /// Starts a new peak at what is in use now.
  void reset_peak();

 private:
  void release_locked() noexcept;
  void* take_kept_locked(std::size_t bytes);
  void make_room_locked(std::size_t bytes) noexcept;

  Source source_;
  mutable std::mutex mutex_;
  std::multimap<std::size_t, void*> kept_;
  std::map<void*, std::size_t> used_;
  std::size_t kept_bytes_ = 0;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace zhalo
