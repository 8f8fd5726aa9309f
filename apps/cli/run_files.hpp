/// The files that a run reads and writes, by name.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/output.hpp"
#include "zhalo/comm/communicator.hpp"

namespace zhalo::app {

/// A file that the user names by an option of its own, such as --json. An empty path is no file.
struct NamedFile {
  std::string option;
  std::string path;
};

struct RunFiles {
  std::vector<std::string> inputs;
  std::vector<OutputName> outputs;  ///< of -o, each in any number of files
  std::vector<NamedFile> named;
};

/// Throws InputError, as seen by rank 0, if two results would go to one file, or one would replace
/// or remove what is read. Collective.
void check_names(const Communicator& comm, const RunFiles& files);

}  // namespace zhalo::app
