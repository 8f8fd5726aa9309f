#include <fmt/format.h>

#include <string_view>

#include "src/io/hdf5/input.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io::hdf5 {
namespace {

/// "..., error message = 'No space left on device', ..." -> "No space left on device".
std::string system_words(std::string_view line) {
  constexpr std::string_view mark = "error message = '";
  const auto begin = line.find(mark);
  if (begin == std::string_view::npos) return {};
  const auto rest = line.substr(begin + mark.size());
  return std::string(rest.substr(0, rest.find('\'')));
}

struct Account {
  std::string innermost;
  std::string system;
};

herr_t note_entry(unsigned, const H5E_error2_t* entry, void* data) {
  auto& account = *static_cast<Account*>(data);
  if (entry->desc == nullptr) return 0;
  if (account.innermost.empty()) account.innermost = entry->desc;
  if (account.system.empty()) account.system = system_words(entry->desc);
  return 0;
}

}  // namespace

std::string last_error() {
  Account account;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_entry, &account);
  if (!account.system.empty()) return account.system;
  return account.innermost.empty() ? "HDF5 gives no reason" : account.innermost;
}

}  // namespace zhalo::io::hdf5

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
