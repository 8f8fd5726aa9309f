/// The directories of results.
#pragma once

#include <string>
#include <vector>

namespace zhalo::io {

/// Makes a directory and its missing parents, and notes those that it made, outermost first.
void make_directories(const std::string& path, std::vector<std::string>& noted);

/// "Z" for "none/../Z" if there is no "none": it would have to be made, and would stay behind. "."
/// for an empty path.
std::string without_detours(const std::string& path);

}  // namespace zhalo::io
