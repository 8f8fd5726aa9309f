/// Checks of what the user gave: always on, with a message that says problem, place and remedy.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "zhalo/core/column_view.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

/// Throws InputError with the formatted message unless `holds`.
template <class... Args>
void validate(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) throw InputError(fmt::format(message, std::forward<Args>(args)...));
}

/// Throws InputError unless a column has an element for each of the rank's `num` particles.
inline void validate_column_size(const ColumnView& column, Index num) {
  validate(column.num == num,
           "a column has {} elements on this rank, which has {} particles: it must have one for "
           "each",
           column.num, num);
}

}  // namespace zhalo
