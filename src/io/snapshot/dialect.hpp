/// What differs between the simulation codes that write snapshots.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/io/snapshot/header.hpp"

namespace zhalo::io {

/// The conventions of one code: how its files are recognised, units, cosmology, velocities, time.
/// Each is in the file of its code. A new one needs an enumerator in Code, its file, and a
/// declaration and a line in dialects() below. It sets all four functions.
///
/// All codes share what is read elsewhere: counts and mass table (header.cpp), BoxSize
/// (dialect.cpp), PartTypeN and the names of datasets (survey.cpp).
struct Dialect {
  Code code = Code::gadget;
  const char* name = "";
  /// Whether this code wrote the file. The first in dialects() that says so is taken.
  bool (*is_of)(const hdf5::InputFile& file) = nullptr;
  /// Fills in units, cosmology and the factor of velocities. The scale factor is already there, if
  /// the file has one in `times`.
  void (*read)(const hdf5::InputFile& file, const SnapshotOverrides& overrides,
               SnapshotInfo& info) = nullptr;
  std::optional<bool> (*read_periodic)(const hdf5::InputFile& file) = nullptr;
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
