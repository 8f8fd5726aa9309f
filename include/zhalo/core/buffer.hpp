/// Columns in the memory of the caller, and arrays that own theirs, on host or device.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "zhalo/core/config.hpp"
#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

// Columns in the caller's own memory layout, with and without their type.

/// Elements at a fixed distance in bytes: one member of an array of structs, one axis of an (N, 3)
/// array, or a plain array. Owns no memory.
template <class T>
struct Strided {
  const T* data = nullptr;
  Index stride_bytes = sizeof(T);

  ZHALO_HD const T& operator[](Index i) const {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(data) + i * stride_bytes);
  }
  ZHALO_HD explicit operator bool() const { return data != nullptr; }
};

/// A strided column of float or double, whose elements are read as double. Owns no memory.
class RealColumn {
 public:
  RealColumn() = default;
  RealColumn(const float* data, Index stride_bytes = sizeof(float))
      : data_(data), stride_bytes_(stride_bytes) {}
  RealColumn(const double* data, Index stride_bytes = sizeof(double))
      : data_(data), stride_bytes_(stride_bytes), is_double_(true) {}

  ZHALO_HD double operator[](Index i) const {
    const char* at = static_cast<const char*>(data_) + i * stride_bytes_;
    return is_double_ ? *reinterpret_cast<const double*>(at)
                      : static_cast<double>(*reinterpret_cast<const float*>(at));
  }
  ZHALO_HD explicit operator bool() const { return data_ != nullptr; }
  ZHALO_HD const void* address_of(Index i) const {
    return static_cast<const char*>(data_) + i * stride_bytes_;
  }
  bool is_double() const { return is_double_; }
  Index stride_bytes() const { return stride_bytes_; }
  /// Whether one number stands for all elements.
  bool is_one_number() const { return stride_bytes_ == 0; }
  const void* data() const { return data_; }

 private:
  const void* data_ = nullptr;
  Index stride_bytes_ = 0;
  bool is_double_ = false;
};

/// A view of `num` elements of any trivially copyable type, in memory of the context's Exec.
struct ColumnView {
  const void* data = nullptr;
  Index num = 0;
  Index element_size = 0;  ///< in bytes
  Index stride_bytes = 0;  ///< from one element to the next; 0: no gaps

  friend constexpr bool operator==(const ColumnView&, const ColumnView&) = default;
};

// Copies, and arrays that own their memory.

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

/// A view of a whole array, without gaps. The array owns the memory and must outlive the view. Its
/// memory must be that of the Exec of the call that takes the view.
template <class T>
ColumnView column_view(Span<T> column) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {column.data(), column.size(), static_cast<Index>(sizeof(T)), 0};
}
template <class T>
ColumnView column_view(const std::vector<T>& column) {
  return column_view(Span<const T>(column));
}
template <class T>
ColumnView column_view(const Buffer<T>& column) {
  return column_view(column.span());
}

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
