#include "src/io/output/paths.hpp"

#include <fmt/format.h>

#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace fs = std::filesystem;

fs::file_status status_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none)
    throw FileError(fmt::format("'{}' cannot be opened: {}", path, error.message()));
  return status;
}

std::vector<std::string> files_in(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;  // of a link that leads nowhere
    if (at->is_regular_file(ignored)) files.push_back(at->path().string());
  }
  if (error)
    throw FileError(fmt::format("directory '{}' cannot be read: {}", directory, error.message()));
  return files;
}

}  // namespace zhalo::io
