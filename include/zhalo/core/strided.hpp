/// Columns in the caller's own memory layout, with and without their type.
#pragma once

#include <type_traits>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/config.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo {

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

}  // namespace zhalo
