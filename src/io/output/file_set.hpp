/// Numbered HDF5 files that hold the rows of all ranks, and the master file that shows them as one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/io/output/catalogue_header.hpp"
#include "src/io/output/file_shares.hpp"

namespace zhalo::io {

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
/// in Communicator::together: FileError, maybe on one rank only, if it cannot write.
void write_file_set(StagedFiles& files, const FileShares& shares, const FileSet& set, bool master);

/// Files of such a set, from an earlier run, go at the commit. Not collective, but all ranks must
/// call it.
void retire_file_set(StagedFiles& files, const std::string& prefix);

}  // namespace zhalo::io
