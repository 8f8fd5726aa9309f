/// Where the cells of a rank are, in a field or in the memory of what they become.
#pragma once

#include "zhalo/mesh/field.hpp"

namespace zhalo {

/// Where a rank's own cells lie: from the first one on.
template <class T>
struct OwnCells {
  T* first = nullptr;
  GridIndex stride{};  ///< 1 along z
};
template <class T>
OwnCells<T> own_cells(Field<T>& field) {
  const BoxLayout& layout = field.layout();
  return {field.span().data() + layout.offset(field.cells().lo), layout.stride};
}

}  // namespace zhalo
