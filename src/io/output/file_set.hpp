/// Numbered HDF5 files that hold the rows of all ranks, and the master file that shows them as one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/io/hdf5/input.hpp"
#include "src/io/hdf5/output.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::io {

/// P ranks share K numbered files. With K <= P file k is that of ranks [k P / K, (k + 1) P / K),
/// who write it one after the other; with K > P rank r alone writes files [r K / P, (r + 1) K / P).
/// So the files hold what the ranks have, in their order.
class FileShares {
 public:
  /// `num_files` 0: one per rank. InputError if it is negative or more than max_files and ranks.
  FileShares(Index num_files, int rank, int num_ranks);

  Index num_files() const { return num_files_; }
  /// Those that this rank writes to.
  Share files() const { return files_; }
  /// How many ranks write to this rank's file before it; those with 0 make the file.
  int turn() const { return turn_; }
  /// Turns until all ranks have written.
  int num_turns() const { return num_turns_; }

 private:
  Index num_files_ = 1;
  Share files_;
  int turn_ = 0;
  int num_turns_ = 1;
};

/// Of this rank. Collective; InputError also if the ranks have different options.
FileShares file_shares(const Communicator& comm, const WriteOptions& options);

/// Where items of one kind (groups, ids, particles of a type) lie in the files. The items of a rank
/// are split evenly over its files.
class Placement {
 public:
  /// `count`: items of this rank. Collective.
  Placement(const Communicator& comm, const FileShares& shares, Index count);

  Index total() const { return first_of_file_.back(); }
  /// The items that these files hold, counted over all ranks.
  Share in_files(Share files) const;
  /// The items that this rank writes to a file of its own, counted on this rank.
  Share mine(Index file) const;
  /// The row of the file at which mine(file) begins.
  Index row(Index file) const;

 private:
  Share files_;
  Index count_ = 0;
  Index before_ = 0;                  // items of lower ranks
  std::vector<Index> first_of_file_;  // one more than files
};

// What the files of all kinds have.

/// The attributes that GADGET-4 gives its datasets, and the unit in words.
void write_meaning(hdf5::OutputFile& file, const std::string& dataset, const Units& units,
                   const Meaning& meaning);

/// Makes /Header with what all kinds of files have.
void write_common_header(hdf5::OutputFile& file, Index num_files, const SnapshotInfo& snapshot);

/// InputError for a name that a dataset in a group of its own cannot have.
void validate_dataset_name(const std::string& name);

/// Attributes of a group or dataset.
void write_notes(hdf5::OutputFile& file, const std::string& object, const std::vector<Note>& notes);

/// Attributes that readers demand. What a cosmological snapshot does not say is nan. A run that is
/// not cosmological has no densities, and h = 1, as in the files of GADGET.
void write_cosmology_and_units(hdf5::OutputFile& file, const std::string& group,
                               const SnapshotInfo& snapshot);

/// Makes /Parameters with what wrote the file.
void make_parameters(hdf5::OutputFile& file);

/// Makes /Parameters with what wrote the file, from which snapshot, and its cosmology and units.
void write_origin(hdf5::OutputFile& file, const SnapshotInfo& snapshot);

// The set.

/// One dataset: its type and the shape of its rows, and this rank's rows of it.
struct FileColumn {
  std::string name;
  hdf5::DatasetView cells;
  const Placement* placement = nullptr;
  std::optional<Meaning> meaning{};
  std::vector<Note> notes{};  ///< further attributes
  /// Name of the attribute that says which of all rows is the first in a file; empty: there is
  /// none.
  std::string first_row{};
  /// Makes rows where they do not lie in memory as the file has them: cells has no data then, and
  /// the set is written in turns.
  std::function<void(Share rows, std::byte* to)> make_rows{};
};

/// What a file shows: a numbered file itself; the master all of them, as a set of one file.
struct FileView {
  Share files;
  Index num_files = 1;

  bool is_master() const { return files.count > num_files; }
};

/// Files "PREFIX.K.hdf5" and the master "PREFIX.hdf5". All ranks have the same columns and the same
/// units.
struct FileSet {
  std::string prefix;
  std::vector<FileColumn> columns;
  Units units;
  bool cosmological = true;  ///< else nothing scales with a, whatever the meanings say
  /// A set of one file is "PREFIX.hdf5" itself, and needs no master.
  bool single_is_whole = false;
  /// Ranks that share a file write it at once where the build can, not in turns: for few and large
  /// columns.
  bool at_once = false;
  /// Makes the groups and writes their attributes.
  std::function<void(hdf5::OutputFile&, const FileView&)> write_header;
};

/// Stages all files of the set; those of earlier runs that it does not replace go at the commit.
/// Ranks that share a file write it in turns, or at once, each its own rows. Collective, to be run
/// in StagedFiles::all_or_nothing: FileError, maybe on one rank only, if it cannot write.
void write_file_set(StagedFiles& files, const FileShares& shares, const FileSet& set, bool master);

/// How many files the run of zhalo had that wrote this one; none if no run of zhalo did.
std::optional<Index> files_of_run(const hdf5::InputFile& file);

/// Files of such a set, from an earlier run, go at the commit. Not collective, but all ranks must
/// call it.
void retire_file_set(StagedFiles& files, const std::string& prefix);

// Rows of particles, type by type. Their functions are in result_file.cpp.

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

// The directories of results.

/// Makes a directory and its missing parents, and notes those that it made, outermost first.
void make_directories(const std::string& path, std::vector<std::string>& noted);

/// "Z" for "none/../Z" if there is no "none": it would have to be made, and would stay behind. "."
/// for an empty path.
std::string without_detours(const std::string& path);

}  // namespace zhalo::io
