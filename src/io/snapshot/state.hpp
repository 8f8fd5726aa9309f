/// Where the particles of an opened snapshot lie.
#pragma once

#include <string>

#include "src/io/hdf5/input.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::io {

/// One quantity of one type: its dataset's name in the group PartTypeN, equal in all files; empty
/// if there is none.
struct Column {
  std::string name;
  bool integer = false;  ///< positions as integers: fractions of the box
  int bytes = 0;
};

struct TypeLayout {
  Column position, velocity, mass, id;
  /// Number of the first particle in each file, and one more entry: the count.
  std::vector<Index> first_of_file;
};

struct Snapshot::State {
  SnapshotInfo info;
  std::vector<TypeLayout> layouts;  ///< by type
};

/// Fills state.layouts and state.info.types from all files and checks them against their headers.
void survey_types(Snapshot::State& state, const SnapshotOverrides& overrides);

/// "PartType1/Coordinates".
std::string dataset_path(int type, const std::string& name);

/// What is known of an opened snapshot, as bytes that other ranks of the same program understand.
std::string to_bytes(const Snapshot::State& state);
Snapshot::State from_bytes(const std::string& bytes);

}  // namespace zhalo::io
