/// The report for machines.
#pragma once

#include <optional>
#include <string>

#include "apps/fof/summary.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::fof_app {

/// A JSON file that appears whole or not at all. Something that is no regular file (a pipe, "-" for standard output) is written to
/// as it is. Writes from rank 0.
class JsonReport {
 public:
  /// Makes sure that the file can be written; an empty path is no report. Collective; FileError. The communicator must outlive it.
  JsonReport(const Communicator& comm, const std::string& path);

  /// Collective; FileError.
  void write(const Summary& summary);

 private:
  const Communicator* comm_;
  std::string path_;
  std::string temporary_;
  std::optional<io::StagedFiles> files_;
};

}  // namespace zhalo::fof_app
