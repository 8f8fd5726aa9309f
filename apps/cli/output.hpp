/// The files with one name that a run writes.
#pragma once

#include <string>

#include "zhalo/comm/communicator.hpp"

namespace zhalo::app {

struct OutputName {
  std::string directory;  ///< empty: the current one
  std::string name;       ///< without ".hdf5"

  /// For the user: "out/results.hdf5", "out/results.0.hdf5 to out/results.3.hdf5".
  std::string shown(Index num_files) const;
};

/// From what the user gave with -o; if that is empty, from `otherwise`. Throws InputError for
/// folders.
OutputName name_output(const std::string& given, const std::string& otherwise);

/// For a run that writes nothing: throws FileError if -o could not be written to `directory`, as
/// rank 0 sees it. Collective.
void check_place(const Communicator& comm, const std::string& directory);

}  // namespace zhalo::app
