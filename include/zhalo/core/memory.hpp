/// Where Buffers take their memory from: counted, reused, and honest about running out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace zhalo {

/// Bytes of host memory that the machine has available for all processes; the largest number if the
/// system does not say.
std::size_t available_machine_bytes();

/// Bytes of host memory that this process can still take: what the machine has available, or less
/// where the process has a limit (ulimit -v). The largest number if the system does not say.
std::size_t available_host_bytes();

/// " within the limit of 0.076 GiB on this process (ulimit -v)" if there is such a limit; else
/// empty.
std::string describe_memory_limit();

/// Keeps freed memory for the next call, so that repeated searches neither allocate nor touch fresh
/// pages; counts what is in use. Large pieces are cut for smaller requests and joined again; before
/// more is taken from the system than was ever in use at once (and an eighth), unused pieces are
/// given back, but for Source::keep_bytes.
///
/// Thread-safe. One pool serves host or device blocks, by the functions that it was made with. It
/// must outlive its Buffers.
class MemoryPool {
 public:
  /// Functions that really allocate and free. `allocate` returns nullptr when memory is gone;
  /// `available` returns bytes.
  struct Source {
    void* (*allocate)(std::size_t bytes) = nullptr;
    void (*deallocate)(void* block) = nullptr;
    std::size_t (*available)() = nullptr;
    const char* name = "";
    std::string (*limit)() = nullptr;  ///< describe_memory_limit, or none
    std::size_t keep_bytes = 0;  ///< so much is kept in any case, where to allocate takes long
    bool separate =
        false;  ///< nothing is kept or cut: each request is a block, whose ends a tool can watch
  };

  /// Host memory, aligned for vectors.
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
  /// Part of a chunk, in use or free; the parts of a chunk lie one behind the other without gaps.
  struct Part {
    std::size_t bytes = 0;
    bool used = false;
  };
  using Parts = std::map<char*, Part>;
  using Free = std::set<std::pair<std::size_t, char*>>;

  enum class AnyPart { no, yes };
  char* take_locked(std::size_t bytes, AnyPart any = AnyPart::no);
  bool add_chunk_locked(std::size_t bytes);
  void join_locked(Parts::iterator left, Parts::iterator right);
  void release_locked(std::size_t bytes_to_hold) noexcept;

  Source source_;
  mutable std::mutex mutex_;
  std::map<char*, std::size_t> chunks_;  ///< what the source gave
  Parts parts_;
  Free free_;
  std::size_t held_ = 0;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace zhalo
