#include "src/io/output/directories.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace fs = std::filesystem;

void make_directories(const std::string& path, std::vector<std::string>& noted) {
  std::vector<std::string> missing;
  std::error_code error;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path())
    missing.insert(missing.begin(), at.string());
  for (const std::string& name : missing) {
    if (!fs::is_symlink(fs::symlink_status(name, error))) continue;
    throw FileError(fmt::format(
        "directory '{}' cannot be made: '{}' is a link that leads nowhere (make the directory that "
        "it names, or remove the link)",
        path, name));
  }
  error.clear();
  for (std::size_t i = 0; i < missing.size() && !error; ++i)
    if (fs::create_directory(missing[i], error)) noted.push_back(missing[i]);
  if (error || !fs::is_directory(path, error)) {
    throw FileError(fmt::format("directory '{}' cannot be made: {}", path,
                                error ? error.message() : "a file has that name"));
  }
}

std::string without_detours(const std::string& path) {
  fs::path known;
  int num_missing = 0;  // of its last parts
  for (const fs::path& part : fs::path(path)) {
    if (num_missing > 0 && part == "..") {
      known = known.parent_path();
      --num_missing;
      continue;
    }
    if (num_missing > 0 && part == ".") continue;
    known /= part;
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(known, ignored))) ++num_missing;
  }
  return known.empty() ? "." : known.string();
}

}  // namespace zhalo::io
