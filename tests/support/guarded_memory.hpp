/// Memory that shows who wrote where nobody may.
#pragma once

#include <algorithm>
#include <vector>

#include "zhalo/core/buffer.hpp"

namespace zhalo::testing {

/// Bytes in the memory of an Exec between canaries. All are 0xff, which is NaN in floats and
/// doubles, until they are written. The first byte lies `misaligned` bytes behind a multiple of 64.
class GuardedBytes {
 public:
  GuardedBytes(const Exec& exec, Index size, Index misaligned = 0)
      : exec_(exec), size_(size), buffer_(exec, size + 4 * line, "test") {
    const auto behind = static_cast<Index>(reinterpret_cast<std::uintptr_t>(buffer_.data()) %
                                           static_cast<std::uintptr_t>(line));
    first_ = 2 * line - behind + misaligned;
    write(0, std::vector<unsigned char>(static_cast<std::size_t>(buffer_.size()), 0xff));
  }

  /// No address where there is nothing.
  std::byte* data() { return size_ > 0 ? buffer_.data() + first_ : nullptr; }
  Index size() const { return size_; }

  void poison() {
    write(first_, std::vector<unsigned char>(static_cast<std::size_t>(size_), 0xff));
  }
  bool guards_intact() const {
    const std::vector<std::byte> all = to_host(exec_, buffer_);
    const auto intact = [](std::byte value) { return value == std::byte{0xff}; };
    return std::all_of(all.begin(), all.begin() + first_, intact) &&
           std::all_of(all.begin() + first_ + size_, all.end(), intact);
  }

  void store(const void* from, Index bytes) {
    copy_bytes(exec_, buffer_.data() + first_, from, static_cast<std::size_t>(bytes));
  }
  void load(void* to, Index bytes) const {
    copy_bytes(exec_, to, buffer_.data() + first_, static_cast<std::size_t>(bytes));
  }

 private:
  static constexpr Index line = 64;

  void write(Index at, const std::vector<unsigned char>& bytes) {
    copy_bytes(exec_, buffer_.data() + at, bytes.data(), bytes.size());
  }

  Exec exec_;
  Index size_;
  Index first_ = 0;
  Buffer<std::byte> buffer_;
};

/// An array of T, aligned to `alignment` bytes and no better.
template <class T>
class GuardedArray {
 public:
  GuardedArray(const Exec& exec, Index size, Index alignment = static_cast<Index>(alignof(T)))
      : bytes_(exec, size * element_size, alignment), size_(size) {}
  template <class U>
  GuardedArray(const Exec& exec, const std::vector<U>& values,
               Index alignment = static_cast<Index>(alignof(T)))
      : GuardedArray(exec, static_cast<Index>(values.size() * sizeof(U) / sizeof(T)), alignment) {
    bytes_.store(values.data(), bytes_.size());
  }

  Span<T> span() { return {reinterpret_cast<T*>(bytes_.data()), size_}; }
  bool guards_intact() const { return bytes_.guards_intact(); }
  /// A copy on the host, read as any kind of element.
  template <class U>
  std::vector<U> values_as() const {
    std::vector<U> values(static_cast<std::size_t>(bytes_.size()) / sizeof(U));
    bytes_.load(values.data(), bytes_.size());
    return values;
  }
  std::vector<T> values() const { return values_as<T>(); }

 private:
  static constexpr auto element_size = static_cast<Index>(sizeof(T));

  GuardedBytes bytes_;
  Index size_;
};

}  // namespace zhalo::testing
