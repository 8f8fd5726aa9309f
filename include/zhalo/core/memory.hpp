/// The memory of Buffers: counted, and reused between calls.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <typeindex>
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
/// Source::keep_share of the peak of bytes in use (or Source::keep_bytes, if that is more), it
/// gives unused blocks back to the system. The peak before the last reset_peak() counts here, too:
/// a code that resets the peak before every step keeps the memory that the next step needs.
///
/// Memory of a device is an arena (Source::repeats): a request is served from the first free block
/// that is large enough, those that were allocated first before others. A repeated call then finds
/// each of its buffers where it was the first time, and allocates nothing.
///
/// Thread-safe, but for release() while another thread uses what kept() has returned. The functions
/// of its Source decide whether it serves host or device memory. It must outlive its blocks.
/// Buffers ensure this by sharing ownership of the pool.
class MemoryPool {
 public:
  /// Functions that allocate and free. `allocate` returns nullptr if there is no more memory.
  /// `available` returns bytes; the largest std::size_t if that is not known.
  struct Source {
    void* (*allocate)(std::size_t bytes) = nullptr;
    void (*deallocate)(void* block) = nullptr;
    std::size_t (*available)() = nullptr;
    const char* name = "";
    std::string (*limit)() = nullptr;  ///< describes a limit of the process, or null
    /// Bytes that are kept in any case, for memory whose allocation is slow.
    std::size_t keep_bytes = 0;
    /// What is kept at most, in units of the peak of bytes in use.
    double keep_share = 1.5;
    /// If true, requests are served in the order of allocation, so that repeated calls allocate
    /// nothing; else by the free block that fits best, which holds less.
    bool repeats = false;
    int device = -1;  ///< for messages; -1: of no device
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
  /// The blocks that are in use now are never used again or given back to the system: something
  /// else, such as MPI, may still read or write them. To deallocate one of them does nothing.
  void abandon_used() noexcept;

  /// Gives all unused memory back to the system, and what is kept<T>().
  void release() noexcept;
  /// The same, but what is kept<T>() stays.
  void release_unused() noexcept;

  std::size_t bytes_in_use() const;
  std::size_t peak_bytes() const;
  /// Bytes that the pool has of the system, in use or not, and the most that it ever had.
  std::size_t bytes_held() const;
  std::size_t peak_held() const;
  /// Bytes that can still be taken: what the system has available and what the pool holds unused.
  std::size_t available_bytes() const;
  /// Sets the peak to the bytes in use now, and the peak of bytes held to those held now.
  void reset_peak();

  /// What OutOfMemory advises, given the bytes that would have to be in use, and those that could
  /// be. Without a function: more ranks. Returns the function that was set before.
  using Remedy = std::function<std::string(std::size_t needed, std::size_t capacity)>;
  Remedy set_remedy(Remedy remedy);

  /// Something that a backend keeps for later calls beside the memory, such as plans of transforms;
  /// made by the first call for each type.
  template <class T>
  T& kept() {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<void>& found = kept_[typeid(T)];
    if (found == nullptr) found = std::make_shared<T>();
    return *static_cast<T*>(found.get());
  }

 private:
  /// A block from the source.
  struct Chunk {
    std::size_t bytes = 0;
    std::size_t number = 0;  ///< counted in the order of allocation
  };
  /// Part of a chunk, in use or free. The parts of a chunk follow one another without gaps.
  struct Part {
    std::size_t bytes = 0;
    bool used = false;
    std::size_t chunk = 0;  ///< its number
    bool abandoned = false;
  };
  using Parts = std::map<char*, Part>;
  using Free = std::set<std::pair<std::size_t, char*>>;

  enum class AnyPart { no, yes };
  char* find_locked(std::size_t bytes, AnyPart any) const;
  char* take_locked(std::size_t bytes, AnyPart any = AnyPart::no);
  char* grow_locked(std::size_t bytes);
  bool add_chunk_locked(std::size_t bytes);
  std::pair<std::size_t, char*> entry_locked(Parts::const_iterator part) const;
  void join_locked(Parts::iterator left, Parts::iterator right);
  void release_locked(std::size_t bytes_to_hold) noexcept;
  std::string shortage_locked(std::size_t bytes, std::string_view purpose) const;

  Source source_;
  mutable std::mutex mutex_;
  std::map<char*, Chunk> chunks_;
  Parts parts_;
  Free free_;  ///< by bytes or, if calls repeat, by the chunk's number; then by address
  std::map<std::type_index, std::shared_ptr<void>> kept_;
  Remedy remedy_;
  std::size_t num_chunks_made_ = 0;
  std::size_t held_ = 0;
  std::size_t peak_held_ = 0;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
  std::size_t peak_before_reset_ = 0;
};

}  // namespace zhalo
