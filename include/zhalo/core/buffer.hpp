/// Arrays that own their memory, on host or device.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo {

/// Copies `bytes` bytes and waits until the copy is done. With a CUDA Exec, either address may be
/// in host memory or in memory of the device.
void copy_bytes(const Exec& exec, void* to, const void* from, std::size_t bytes);

/// Copies `bytes` bytes before any work that the Exec is given afterwards. `from` may be changed
/// when the call returns if it is in host memory. Waits for the copy only where it must: from
/// page-locked memory, and to the host.
void queue_copy(const Exec& exec, void* to, const void* from, std::size_t bytes);

/// A move-only array of `size` elements that owns its memory. The elements are not initialised.
/// `padding` more elements behind the end may be read and written, so vector loads need no special
/// case at the end. Kernels get Spans, never Buffers.
///
/// On a device the memory of a destroyed Buffer is used again in the order of the Exec's stream
/// only: a caller who reads it on another stream waits for that stream first.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr Index padding = 64;

  Buffer() = default;
  /// `purpose` names the buffer in the message of OutOfMemory.
  Buffer(const Exec& exec, Index size, std::string_view purpose)
      : pool_(memory(exec)),
        data_(static_cast<T*>(pool_->allocate(bytes_for(size), purpose))),
        size_(size) {}

  Buffer(Buffer&& other) noexcept
      : pool_(std::move(other.pool_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) pool_->deallocate(data_);
  }

  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  Span<T> span() { return {data_, size_}; }
  Span<const T> span() const { return {data_, size_}; }

  /// Drops the elements from `size` on. The memory stays allocated.
  void shrink(Index size) {
    ZHALO_EXPECT(size >= 0 && size <= size_);
    size_ = size;
  }

 private:
  /// Bytes for `size` elements and the padding. A result above 2^62 becomes 2^62, which no machine
  /// has: this avoids an overflow of 64 bits.
  static std::size_t bytes_for(Index size) {
    ZHALO_EXPECT(size >= 0);
    constexpr std::size_t max_bytes = std::size_t{1} << 62;
    const std::size_t elements = static_cast<std::size_t>(size) + static_cast<std::size_t>(padding);
    return elements < max_bytes / sizeof(T) ? elements * sizeof(T) : max_bytes;
  }

  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::shared_ptr<MemoryPool> pool_;
  T* data_ = nullptr;
  Index size_ = 0;
};

/// Copies the elements to a vector on the host.
template <class T>
std::vector<T> to_host(const Exec& exec, Span<const T> from) {
  std::vector<T> to(static_cast<std::size_t>(from.size()));
  copy_bytes(exec, to.data(), from.data(), to.size() * sizeof(T));
  return to;
}
template <class T>
std::vector<T> to_host(const Exec& exec, const Buffer<T>& from) {
  return to_host(exec, from.span());
}

/// Copies the elements to a new Buffer in memory of `exec`, as queue_copy() does. `purpose` names
/// it in the message of OutOfMemory.
template <class T>
Buffer<T> to_exec(const Exec& exec, Span<const T> from, std::string_view purpose) {
  Buffer<T> to(exec, from.size(), purpose);
  queue_copy(exec, to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
  return to;
}

}  // namespace zhalo
