/// What every file of a catalogue says about itself and its datasets.
#pragma once

#include <string>
#include <utility>

#include "src/io/hdf5/output.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::io {

inline Meaning of_length(std::string text) {
  return {.a = 1, .h = -1, .length = 1, .text = std::move(text)};
}
inline Meaning of_mass(std::string text) { return {.h = -1, .mass = 1, .text = std::move(text)}; }
inline Meaning of_velocity(double a, std::string text) {
  return {.a = a, .velocity = 1, .text = std::move(text)};
}
inline Meaning of_number(std::string text) { return {.text = std::move(text)}; }

/// The attributes that GADGET-4 gives its datasets, and the unit in words.
void write_meaning(hdf5::OutputFile& file, const std::string& dataset, const Units& units,
                   const Meaning& meaning);

/// Makes /Header with what all kinds of files have.
void write_common_header(hdf5::OutputFile& file, Index num_files, const SnapshotInfo& snapshot);

/// Attributes of a group or dataset.
void write_notes(hdf5::OutputFile& file, const std::string& object, const std::vector<Note>& notes);

/// Attributes that readers demand, also of runs without cosmology: then there is no expansion and
/// no h.
void write_cosmology_and_units(hdf5::OutputFile& file, const std::string& group,
                               const SnapshotInfo& snapshot);

/// Makes /Parameters with what wrote the file.
void make_parameters(hdf5::OutputFile& file);

/// Makes /Parameters with what wrote the file, from which snapshot, and its cosmology and units.
void write_origin(hdf5::OutputFile& file, const SnapshotInfo& snapshot);

/// Makes /Parameters: the origin, and how groups were found.
void write_run(hdf5::OutputFile& file, const SnapshotInfo& snapshot, const RunRecord& run);

}  // namespace zhalo::io
