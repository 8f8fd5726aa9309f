/// The file of the report for machines.
#pragma once

#include <optional>
#include <string>

#include "zhalo/io/staged_files.hpp"

namespace zhalo::app {

/// A JSON file that appears whole or not at all. "-", or any name of it, is standard output, and a file that is no regular one (a
/// pipe, a device) is written to as it is. Rank 0 looks at the path and writes.
class JsonFile {
 public:
  /// Makes sure that the file can be written; an empty path is no report. Collective; FileError. The communicator must outlive it.
  JsonFile(const Communicator& comm, const std::string& path);

  /// Rank 0's text. Collective; FileError.
  void write(const std::string& text);

 private:
  enum class Target { none, standard_output, file_as_it_is, staged_file, folder };
  static Target target_of(const std::string& path);
  void put_out(const std::string& text) const;

  const Communicator* comm_;
  std::string path_;
  Target target_ = Target::none;  ///< as rank 0 sees it; the same on all ranks
  std::string temporary_;
  std::optional<io::StagedFiles> files_;
};

}  // namespace zhalo::app
