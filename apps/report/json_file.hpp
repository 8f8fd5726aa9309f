/// The file of the report for machines.
#pragma once

#include <string>

#include "apps/report/text_file.hpp"

namespace zhalo::app {

class JsonFile : public TextFile {
 public:
  /// Makes sure that the file can be written; an empty path is no report. Collective; FileError.
  /// The communicator must outlive it.
  JsonFile(const Communicator& comm, const std::string& path) : TextFile(comm, "--json", path) {}

  /// Rank 0's text. Collective; FileError.
  void write(const std::string& text) {
    put(text);
    commit();
  }
};

}  // namespace zhalo::app
