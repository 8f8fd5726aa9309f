/// The files that a run reads and writes, by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::app {

/// About as much as files take besides their results, for groups and attributes.
inline std::size_t header_bytes(Index num_files) {
  return static_cast<std::size_t>(num_files) * (64 << 10);
}

/// Results in one file or in several with a common name.
struct OutputName {
  std::string directory;  ///< empty: the current one
  std::string name;       ///< without ".hdf5"
  io::Content content = io::Content::nothing;
  bool is_chosen = false;  ///< the user chose the name; else it has the number of the snapshot

  /// For the user: "out/results.hdf5", "out/results.0.hdf5 to out/results.3.hdf5".
  std::string shown(Index num_files) const;
};

/// From what the user gave with -o; if that is empty, from `otherwise`. Throws InputError for
/// folders.
OutputName name_output(const std::string& given, const std::string& otherwise, io::Content content);

/// Absolute, so that it means the same in any folder.
std::string whole_path(const std::string& path);

/// For a run that writes nothing: throws FileError if -o could not be written to `directory`, as
/// rank 0 sees it. Collective.
void check_directory(const Communicator& comm, const std::string& directory);

/// A file that the user names by an option of its own, such as --json. An empty path is no file.
struct NamedFile {
  std::string option;
  std::string path;
  /// Of what is written there; of a report, if not said otherwise.
  std::string beginning = "{\n  \"command\": \"";
  std::string mark{};  ///< what stands there in the first 128 bytes, besides
};

struct RunFiles {
  std::vector<std::string> inputs;
  std::vector<OutputName> outputs;  ///< of -o, each in any number of files
  std::vector<NamedFile> named;
  Index num_files = 1;  ///< of each output whose name the user chooses
  /// Files on which the inputs draw, through links and virtual datasets.
  std::vector<std::string> origins{};
};

/// Throws InputError if two results would go to one file, if one would replace what is read, a link
/// that leads there, or what was not written as such a result, or if a name cannot be given; and
/// FileError if the folder of one is there and cannot be written to. Warns of results of other
/// snapshots that will be replaced because they have the same number. Collective.
void check_names(const Communicator& comm, const RunFiles& files,
                 std::vector<std::string>& warnings);

}  // namespace zhalo::app
