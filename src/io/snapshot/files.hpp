/// From what the user typed to the files of a snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "zhalo/core/types.hpp"

namespace zhalo::io {

/// Name of a file taken apart: "dir/snapshot_007.3.hdf5" is directory "dir", stem "snapshot_007",
/// chunk 3, extension ".hdf5".
struct FileName {
  std::string directory;
  std::string stem;
  int chunk = -1;  ///< -1 if the name has none
  std::string extension;

  static FileName of(const std::string& path);
  /// The path of another chunk.
  std::string path_of_chunk(int chunk) const;
};

/// The digits of "PREFIX.DIGITS.hdf5"; none if the name is not of that form.
std::string digits_in(const std::string& name, const std::string& prefix);

/// Stem -> the file to open first, of those in a folder whose names are wanted: the one without
/// number, which shows all, or the lowest number.
std::map<std::string, std::string> first_files_in(
    const std::string& directory, const std::function<bool(const std::string& name)>& is_wanted);

/// The first file to look into. FileError if there is none, InputError if a directory holds several
/// snapshots.
std::string find_first_file(const std::string& path);

/// All `num_files` files of the snapshot, or what else it may be, that `file` belongs to; FileError
/// naming the first that is missing or a link to another of them, or for a number that cannot be.
std::vector<std::string> all_chunks(const std::string& file, Index num_files,
                                    const std::string& whole = "snapshot");

/// Of files with the same bytes it is the same; of others it is another one as a rule. Reads a few
/// kilobytes.
std::uint64_t sample_of(const std::string& path);
/// Reads both until they differ. FileError if one cannot be read.
bool have_same_bytes(const std::string& a, const std::string& b);

/// Files in the same folder that have the names of further chunks. If the snapshot is one file and
/// its own name was given, they are chunks only if they are numbered from 0 on with it: 500 and 750
/// of "snap_z0.500.hdf5" and "snap_z0.750.hdf5" are no chunks.
std::vector<std::string> chunks_beyond(const std::vector<std::string>& files, bool is_named);

/// 7 for "snapshot_007", 28 for "snap_028_z000p000", 42 for "snap0042", 0 for "cosmo". Nothing if
/// the number has more than nine digits.
std::optional<int> snapshot_number(const std::string& stem);

}  // namespace zhalo::io
