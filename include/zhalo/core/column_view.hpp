/// Columns that are moved without knowing their type.
#pragma once

#include <type_traits>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/span.hpp"

namespace zhalo {

/// A view of `num` elements of any trivially copyable type, in memory of the context's Exec.
struct ColumnView {
  const void* data = nullptr;
  Index num = 0;
  Index element_size = 0;  ///< in bytes
  Index stride_bytes = 0;  ///< from one element to the next; 0: no gaps

  friend constexpr bool operator==(const ColumnView&, const ColumnView&) = default;
};

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
