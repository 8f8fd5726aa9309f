/// The header of a snapshot, whatever the dialect.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/io/hdf5/input.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::io {

// As GADGET has them; units are recognised within 2e-3.
inline constexpr double cm_per_mpc = 3.085678e24;
inline constexpr double solar_mass_in_g = 1.989e33;

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

/// Groups and names of attributes that may hold a number, in the order of preference.
using AttributePaths = std::vector<std::pair<std::string, std::string>>;

/// The first that is there; one of another type is not used. Of times that is warned of
/// (warn_of_time).
inline std::optional<double> first_number(const hdf5::InputFile& file,
                                          const AttributePaths& paths) {
  for (const auto& [group, name] : paths) {
    if (file.holds_numbers(group, name)) return first_real(file, {group}, {name});
  }
  return std::nullopt;
}

inline std::optional<double> positive(std::optional<double> value) {
  return value && *value > 0 && std::isfinite(*value) ? value : std::nullopt;
}

/// Counts and masses as the header of one file states them; vectors are as long as the file has
/// types, or empty if it does not say.
struct HeaderCounts {
  int num_types = 0;
  Index num_files = 1;
  std::vector<Index> in_this_file;
  std::vector<Index> total;
  bool total_may_lack_high_bits = false;  ///< 32-bit totals without a HighWord
  std::vector<double> mass_table;
  /// Means that SWIFT states, in the unit of the datasets; empty for other codes.
  std::vector<double> initial_masses;
  std::optional<double> time;
  /// The sides of the box, HubbleParam and Omega0; NaN for what the file does not say.
  std::array<double, 5> constants{};
};

/// InputError if the file is a group catalogue or another product, or no snapshot at all.
void check_is_snapshot(const hdf5::InputFile& file);

/// `times` are those of the file's code. Without one of them the redshift is taken.
HeaderCounts read_counts(const hdf5::InputFile& file, AttributePaths times);

}  // namespace zhalo::io
