/// The header of a snapshot, and what differs between the simulation codes that write it.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/io/hdf5/input.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::io {

// The header of a snapshot, whatever the dialect.

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
  bool total_may_lack_high_bits = false;  ///< 32 bits each; a HighWord may be missing or 0
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

// What differs between codes.

/// The conventions of one code: how its files are recognised, units, cosmology, velocities, time.
/// Each is in the file of its code. A new one needs an enumerator in Code, its file, and a
/// declaration and a line in dialects() below. It sets all four functions.
///
/// All codes share what is read elsewhere: counts, mass table and BoxSize (dialect.cpp), PartTypeN
/// and the names of datasets (survey.cpp).
struct Dialect {
  Code code = Code::gadget;
  const char* name = "";
  /// Whether this code wrote the file. The first in dialects() that says so is taken.
  bool (*is_of)(const hdf5::InputFile& file) = nullptr;
  /// Fills in units, cosmology and the factor of velocities. The scale factor is already there, if
  /// the file has one in `times`.
  void (*read)(const hdf5::InputFile& file, const SnapshotOverrides& overrides,
               SnapshotInfo& info) = nullptr;
  /// May add warnings to `info`.
  std::optional<bool> (*read_periodic)(const hdf5::InputFile& file, SnapshotInfo& info) = nullptr;
  /// Of the code that wrote the file; empty if it does not say.
  std::string (*read_version)(const hdf5::InputFile& file) = nullptr;
  AttributePaths times;
  /// The gravitational constant that its critical density is computed with. For the family of
  /// GADGET; this one is in the sources of GADGET-2.
  double gravity_in_cgs = 6.672e-8;
  /// Whether the stated units of length and mass already contain the 1/h of a cosmological run.
  bool states_units_with_h = false;
};

Dialect swift_dialect();
Dialect eagle_dialect();
Dialect gizmo_dialect();
Dialect arepo_dialect();
Dialect gadget4_dialect();
Dialect gadget_dialect();

/// All, in the order in which a file is tried. The last takes every file.
inline std::vector<Dialect> dialects() {
  return {swift_dialect(), eagle_dialect(),   gizmo_dialect(),
          arepo_dialect(), gadget4_dialect(), gadget_dialect()};
}
Dialect dialect_of(Code code);

/// Fills all of `info` but files, stem, number and types.
void read_conventions(const hdf5::InputFile& file, const SnapshotOverrides& overrides,
                      SnapshotInfo& info);

/// For files that state no units: takes Mpc/h instead of the habitual kpc/h if only that makes the
/// particles' mass fill the box as Omega_matter says, within a factor of 2. The two differ by 1e9.
/// Needs info.types.
void settle_assumed_units(SnapshotInfo& info, const std::function<double()>& mass_in_box);

// ---- shared by dialects ----

/// What the user knows replaces what the file says.
void overlay(Cosmology& cosmology, const Cosmology& over);
/// For a run that is not cosmological: its time is no scale factor, and what the file says of a
/// cosmology does not hold.
void forget_cosmology(const hdf5::InputFile& file, SnapshotInfo& info);
/// Fills in info.units, by the names of GADGET or, in files without h, of SWIFT.
void read_units(const hdf5::InputFile& file, const SnapshotOverrides& overrides,
                SnapshotInfo& info);

/// GADGET-2/3, and what GADGET-4, AREPO, GIZMO and EAGLE have in common with it.
Dialect gadget_family(Code code, const char* name, bool (*is_of)(const hdf5::InputFile& file));

}  // namespace zhalo::io
