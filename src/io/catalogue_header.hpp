/// What every file of a catalogue says about itself and its datasets.
#pragma once

#include <string>
#include <utility>

#include "src/io/hdf5_output.hpp"
#include "zhalo/io/catalogue_file.hpp"

namespace zhalo::io {

/// Powers with which a quantity scales, and what it is.
struct Meaning {
  double a = 0, h = 0, length = 0, mass = 0, velocity = 0;
  std::string text{};
};

inline Meaning of_length(std::string text) { return {.a = 1, .h = -1, .length = 1, .text = std::move(text)}; }
inline Meaning of_mass(std::string text) { return {.h = -1, .mass = 1, .text = std::move(text)}; }
inline Meaning of_velocity(double a, std::string text) { return {.a = a, .velocity = 1, .text = std::move(text)}; }
inline Meaning of_number(std::string text) { return {.text = std::move(text)}; }

/// The attributes that GADGET-4 gives its datasets.
void write_meaning(hdf5::OutputFile& file, const std::string& dataset, const Units& units, const Meaning& meaning);

/// Makes /Header with what all kinds of files have.
void write_common_header(hdf5::OutputFile& file, Index num_files, const SnapshotInfo& snapshot);

/// Makes /Parameters.
void write_run(hdf5::OutputFile& file, const SnapshotInfo& snapshot, const RunRecord& run);

}  // namespace zhalo::io
