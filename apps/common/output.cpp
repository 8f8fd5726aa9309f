#include "apps/common/output.hpp"

#include <fmt/format.h>
#include <filesystem>

#include "zhalo/core/error.hpp"
#include "zhalo/io/result_file.hpp"

namespace zhalo::app {

namespace fs = std::filesystem;

std::string OutputName::shown(Index num_files) const {
  const std::string path = (fs::path(directory) / name).string();
  return num_files == 1 ? path + ".hdf5" : fmt::format("{0}.0.hdf5 to {0}.{1}.hdf5", path, num_files - 1);
}

OutputName name_output(const std::string& given, const std::string& otherwise) {
  const fs::path path = given.empty() ? otherwise : given;
  std::error_code ignored;
  if (path.filename().empty() || fs::is_directory(path, ignored))
    throw InputError(
        fmt::format("-o '{}' is a folder: name a file, such as {}", given, (path / fs::path(otherwise).filename()).string()));
  const fs::path name = path.extension() == ".hdf5" ? path.stem() : path.filename();
  return {path.parent_path().string(), name.string()};
}

void check_inputs_stay(const Communicator& comm, const OutputName& output, const std::vector<std::string>& inputs) {
  comm.together([&] {
    if (comm.rank() != 0) return;
    const fs::path folder = output.directory.empty() ? "." : output.directory;
    for (const std::string& input : inputs) {
      const fs::path parent = fs::path(input).parent_path();
      std::error_code ignored;  // a folder that does not exist yet holds no input
      const bool beside = fs::equivalent(folder, parent.empty() ? "." : parent, ignored);
      if (beside && io::is_result_name(output.name, fs::path(input).filename().string()))
        throw InputError(fmt::format("-o {} would replace '{}', which is read: choose another name", output.shown(1), input));
    }
  });
}

}  // namespace zhalo::app
