#include "apps/cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "zhalo/core/error.hpp"

namespace zhalo::app {

namespace fs = std::filesystem;

std::string OutputName::shown(Index num_files) const {
  const std::string path = (fs::path(directory) / name).string();
  return num_files == 1 ? path + ".hdf5"
                        : fmt::format("{0}.0.hdf5 to {0}.{1}.hdf5", path, num_files - 1);
}

OutputName name_output(const std::string& given, const std::string& otherwise) {
  const fs::path path = given.empty() ? otherwise : given;
  std::error_code ignored;
  if (path.filename().empty() || fs::is_directory(path, ignored))
    throw InputError(fmt::format("-o '{}' is a folder: name a file, such as {}", given,
                                 (path / fs::path(otherwise).filename()).string()));
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw InputError(
        fmt::format("-o '{}' is a device or a pipe, which cannot hold HDF5: name a file", given));
  const fs::path name = path.extension() == ".hdf5" ? path.stem() : path.filename();
  return {path.parent_path().string(), name.string()};
}

void check_place(const Communicator& comm, const std::string& directory) {
  comm.together([&] {
    if (comm.rank() != 0) return;
    std::error_code ignored;
    fs::path place = fs::absolute(directory.empty() ? "." : directory, ignored);
    while (place.has_relative_path() && !fs::exists(fs::symlink_status(place, ignored)))
      place = place.parent_path();
    if (!fs::is_directory(place, ignored))
      throw FileError(fmt::format("-o: directory '{}' cannot be made: '{}' is a file", directory,
                                  place.string()));
    if (::access(place.c_str(), W_OK | X_OK) != 0)
      throw FileError(fmt::format("-o: directory '{}' cannot be written to: {}", place.string(),
                                  std::strerror(errno)));
  });
}

}  // namespace zhalo::app
