/// Where HDF5 finds what a file leaves to other files: behind external links, in parts of virtual
/// datasets, and in external storage.
#pragma once

#include <hdf5.h>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "src/io/hdf5/input.hpp"

namespace zhalo::io::hdf5 {

/// The file that holds the dataset or group, which was found in the one at `path`. Others that it
/// names are looked for beside it.
std::string file_of(hid_t object, const std::string& path);

/// The name of a dataset or group in its file; empty if HDF5 does not know it.
std::string name_in_file(hid_t object);

// Virtual datasets.

/// As the creation properties of a virtual dataset have them: the file and the dataset of a part.
std::string virtual_file(hid_t properties, std::size_t part);
std::string virtual_dataset(hid_t properties, std::size_t part);

/// In the names of parts "%%" is a percent sign. False for "%b", which stands for numbers of files
/// that go on without end.
bool unescape(std::string& name);

/// Where HDF5 looks for a file that holds a part of the dataset in the file at `path`, in this
/// order (H5F_prefix_open_file). Of an absolute name that leads nowhere it looks for the last part.
std::vector<std::filesystem::path> virtual_paths(const std::string& file, const std::string& path);

/// The first of these paths that has a file which HDF5 can open; `file` becomes its path.
Handle open_source(std::string& file, const std::string& path);

// External storage.

/// The path of a file that holds bytes of a dataset in the file at `path`.
std::filesystem::path external_path(const std::string& name, const std::string& path);

// All of them.

/// Adds the files to which an open dataset, found in the one at `path`, leaves its numbers. Opens
/// none of them.
void note_origins(hid_t dataset, const std::string& path, Origins& origins);

/// Notes which files HDF5 opens as it follows external links.
class LinkTrail {
 public:
  LinkTrail();
  ~LinkTrail() = default;
  LinkTrail(const LinkTrail&) = delete;
  LinkTrail& operator=(const LinkTrail&) = delete;

  /// Properties of access to what is looked for, so that links on the way are seen.
  hid_t access() const { return access_.id(); }

  /// After a look at an object of an open file: if external links led there, adds all files on the
  /// way to the origins.
  void note(hid_t file, const std::string& object, Origins& origins);

 private:
  Handle access_;
  std::set<std::string> passed_;  ///< files whose links were followed since the last note
  std::set<std::string> noted_;   ///< objects: each is asked for many times
};

}  // namespace zhalo::io::hdf5
