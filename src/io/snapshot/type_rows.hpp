/// Particles of several types in numbered files: a group for each type, rows in the snapshot's
/// order.
#pragma once

#include <string>
#include <vector>

#include "src/io/output/file_set.hpp"

namespace zhalo::io {

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
