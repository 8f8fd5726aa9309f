/// Numbers that headers state under one of several names.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "src/io/hdf5/input.hpp"

namespace zhalo::io {

/// The first that is there, by group, then by name.
inline std::optional<double> first_real(const hdf5::InputFile& file,
                                        const std::vector<std::string>& groups,
                                        const std::vector<std::string>& names) {
  for (const auto& group : groups) {
    for (const auto& name : names) {
      if (const auto values = file.reals(group, name)) return values->front();
    }
  }
  return std::nullopt;
}

/// Of a time: one of another type is not used, and warned of (warn_of_time).
inline std::optional<double> first_time(const hdf5::InputFile& file, const std::string& group,
                                        const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (file.holds_numbers(group, name)) return first_real(file, {group}, {name});
  }
  return std::nullopt;
}

inline std::optional<double> positive(std::optional<double> value) {
  return value && *value > 0 && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace zhalo::io
