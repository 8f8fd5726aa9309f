/// Checks of what the user gave: always on, with a message that says problem, place and remedy.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "zhalo/core/error.hpp"

namespace zhalo {

/// Throws InputError with the formatted message unless `holds`.
template <class... Args>
void validate(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) throw InputError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace zhalo
