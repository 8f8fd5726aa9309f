/// An opened snapshot: where its particles lie, and the rows of its types.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "src/io/hdf5/input.hpp"
#include "src/io/output/file_set.hpp"
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

/// Whether a file may give a particle this mass: 0, too, which a catalogue refuses.
inline bool is_readable_mass(double value) { return std::isfinite(value) && value >= 0; }

struct Snapshot::State {
  SnapshotInfo info;
  std::vector<TypeLayout> layouts;  ///< by type
  std::shared_ptr<hdf5::CompleteDatasets> complete = std::make_shared<hdf5::CompleteDatasets>();
};

/// "PartType1/Coordinates".
std::string dataset_path(int type, const std::string& name);

/// This rank's particles of one type, the same types on all ranks.
struct TypeRows {
  TypeRange range;
  Index begin = 0;  ///< in this rank's columns
  Placement placement;
};

/// "PartType1"; "Query" for no_type.
std::string group_of_type(int type);

/// Throws InputError unless the ranges are of types in [lowest, num_types), ascending. `what` they
/// belong to, for the message.
void check_ranges(const std::vector<TypeRange>& ranges, int lowest, int num_types,
                  const char* what);

/// Rows of all ranges.
Index num_rows(const std::vector<TypeRange>& ranges);

/// Collective. Files hold the particles in the order of the ranks, which must be that of the
/// snapshot: InputError, maybe on one rank only.
std::vector<TypeRows> rows_by_type(const Communicator& comm, const FileShares& shares,
                                   const std::vector<TypeRange>& ranges,
                                   const std::vector<int>& types);

/// Makes the groups, and in /Header the counts of `num_types` types.
void write_types(hdf5::OutputFile& file, const FileView& view, const std::vector<TypeRows>& rows,
                 std::size_t num_types);

}  // namespace zhalo::io
