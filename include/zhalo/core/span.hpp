/// A view of contiguous memory that works on host and device and is bounds-checked in Debug builds.
#pragma once

#include <type_traits>
#include <vector>

#include "zhalo/core/error.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

/// Pointer and size; owns no memory. A Span<T> converts to Span<const T>.
template <class T>
class Span {
 public:
  using value_type = std::remove_const_t<T>;

  constexpr Span() = default;
  ZHALO_HD constexpr Span(T* data, Index size) : data_(data), size_(size) {}

  template <class U>
  requires(std::is_const_v<T>&& std::is_same_v<U, value_type>) ZHALO_HD
      constexpr Span(Span<U> other)
      : data_(other.data()), size_(other.size()) {}

  /// Views a vector; host only.
  Span(std::vector<value_type>& v) requires(!std::is_const_v<T>)
      : data_(v.data()), size_(static_cast<Index>(v.size())) {}
  Span(const std::vector<value_type>& v) requires(std::is_const_v<T>)
      : data_(v.data()), size_(static_cast<Index>(v.size())) {}

  ZHALO_HD constexpr T* data() const { return data_; }
  ZHALO_HD constexpr Index size() const { return size_; }
  ZHALO_HD constexpr bool empty() const { return size_ == 0; }
  ZHALO_HD constexpr T* begin() const { return data_; }
  ZHALO_HD constexpr T* end() const { return data_ + size_; }

  ZHALO_HD constexpr T& operator[](Index i) const {
    ZHALO_EXPECT(i >= 0 && i < size_);
    return data_[i];
  }

  /// The part [first, first + count).
  ZHALO_HD constexpr Span subspan(Index first, Index count) const {
    ZHALO_EXPECT(first >= 0 && first <= size_ && count >= 0 && count <= size_ - first);
    return {data_ + first, count};
  }

 private:
  T* data_ = nullptr;
  Index size_ = 0;
};

}  // namespace zhalo
