/// The memory of Buffers: counted, and reused between calls.
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

/// Bytes of host memory that the machine has available for all processes. The largest number if the
/// system does not say.
std::size_t available_machine_bytes();

/// Bytes of host memory that this process can still take: what the machine has available, or less
/// if the process has a limit (ulimit -v). The largest number if the system does not say.
std::size_t available_host_bytes();

/// For example " within the limit of 0.076 GiB on this process (ulimit -v)". Empty if there is no
/// such limit.
std::string describe_memory_limit();

/// A pool of host or device memory. It keeps freed memory for the next request, so repeated
/// searches neither allocate nor touch fresh pages. It also counts the bytes in use.
///
/// Large free blocks are cut for smaller requests and joined again. Before the pool holds more than
/// 9/8 of the peak of bytes in use (or Source::keep_bytes, if that is more), it gives unused blocks
/// back to the system.
///
/// Thread-safe. The functions of its Source decide whether it serves host or device memory. It must
/// outlive its blocks. Buffers ensure this by sharing ownership of the pool.
class MemoryPool {
 public:
  /// Functions that allocate and free. `allocate` returns nullptr if there is no more memory.
  /// `available` returns bytes.
  struct Source {
    void* (*allocate)(std::size_t bytes) = nullptr;
    void (*deallocate)(void* block) = nullptr;
    std::size_t (*available)() = nullptr;
    const char* name = "";
    std::string (*limit)() = nullptr;  ///< describes a limit of the process, or null
    /// Bytes that are kept in any case, for memory whose allocation is slow.
    std::size_t keep_bytes = 0;
    /// If true, nothing is kept or cut. Each request is a block of its own, so that tools can
    /// detect accesses beyond its ends.
    bool separate = false;
  };

  /// Host memory, aligned for vector instructions.
  MemoryPool();
  explicit MemoryPool(Source source);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Returns a block of at least `bytes` bytes. Throws OutOfMemory, with `purpose` in the message.
  void* allocate(std::size_t bytes, std::string_view purpose);
  void deallocate(void* block) noexcept;

  /// Gives all unused memory back to the system.
  void release() noexcept;

  std::size_t bytes_in_use() const;
  std::size_t peak_bytes() const;
  /// Sets the peak to the bytes in use now.
  void reset_peak();

 private:
  /// Part of a chunk, in use or free. The parts of a chunk follow one another without gaps.
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
  std::map<char*, std::size_t> chunks_;  ///< blocks from the source and their bytes
  Parts parts_;
  Free free_;
  std::size_t held_ = 0;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace zhalo
