/// What lies at the paths of inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace zhalo::io {

/// FileError if the system does not say what lies there, as in a folder that may not be read or
/// behind links that lead to each other.
std::filesystem::file_status status_of(const std::string& path);

/// Paths of the files in a folder, in any order. FileError if it cannot be read.
std::vector<std::string> files_in(const std::string& directory);

}  // namespace zhalo::io
