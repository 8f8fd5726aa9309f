#include "apps/cli/run_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "apps/report/text_file.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::app {

namespace fs = std::filesystem;

std::string OutputName::shown(Index num_files) const {
  const std::string path = (fs::path(directory) / name).string();
  return num_files == 1 ? path + ".hdf5"
                        : fmt::format("{0}.0.hdf5 to {0}.{1}.hdf5", path, num_files - 1);
}

OutputName name_output(const std::string& given, const std::string& otherwise,
                       io::Content content) {
  if (given == "-") throw InputError("-o -: HDF5 cannot go to standard output: name a file");
  const fs::path path = given.empty() ? otherwise : given;
  std::error_code ignored;
  if (path.filename().empty() || fs::is_directory(path, ignored))
    throw InputError(fmt::format("-o '{}' is a folder: name a file, such as {}", path.string(),
                                 (path / fs::path(otherwise).filename()).string()));
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw InputError(fmt::format(
        "-o '{}' is a device or a pipe, which cannot hold HDF5: name a file", path.string()));
  const fs::path name = path.extension() == ".hdf5" ? path.stem() : path.filename();
  return {path.parent_path().string(), name.string(), content, !given.empty()};
}

std::string whole_path(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

void check_directory(const Communicator& comm, const std::string& directory) {
  comm.together([&] {
    if (comm.rank() != 0) return;
    std::error_code ignored;
    fs::path existing = fs::absolute(directory.empty() ? "." : directory, ignored);
    while (existing.has_relative_path() && !fs::exists(fs::symlink_status(existing, ignored)))
      existing = existing.parent_path();
    if (!fs::is_directory(existing, ignored))
      throw FileError(fmt::format(
          "-o: directory '{}' cannot be made: '{}' is {}", directory, existing.string(),
          fs::exists(existing, ignored) ? "a file"
                                        : "a link that leads nowhere (make the directory that it "
                                          "names, or remove the link)"));
    if (::access(existing.c_str(), W_OK | X_OK) != 0)
      throw FileError(fmt::format("-o: directory '{}' cannot be written to: {}", existing.string(),
                                  std::strerror(errno)));
  });
}

namespace {

/// The path at which a result appears: links on the way there are followed, one of its own name is
/// replaced.
fs::path resolved(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  const fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
  return error ? whole : folder / whole.filename();
}

void check_apart(const NamedFile& a, const NamedFile& b) {
  const bool a_is_output = is_standard_output(a.path);
  const bool b_is_output = is_standard_output(b.path);
  if (a_is_output && b_is_output)
    throw InputError(
        fmt::format("{} '{}' and {} '{}' are both standard output: give one of them a file",
                    a.option, a.path, b.option, b.path));
  if (!a_is_output && !b_is_output && resolved(a.path) == resolved(b.path))
    throw InputError(
        fmt::format("{} '{}' and {} '{}' are the same file: give each a file of its own", a.option,
                    a.path, b.option, b.path));
}

/// Whether the file would stand where a folder of results is, or is to be made.
bool is_on_the_way(const fs::path& file, const fs::path& result) {
  const auto [rest, _] = std::mismatch(file.begin(), file.end(), result.begin(), result.end());
  return rest == file.end();
}

/// The files of an output may be any number; those of an earlier run go.
void check_beside_output(const NamedFile& file, const OutputName& output) {
  if (is_standard_output(file.path)) return;
  const fs::path named = resolved(file.path);
  const fs::path whole = resolved((fs::path(output.directory) / output.name).string());
  if (is_on_the_way(named, whole.parent_path()))
    throw InputError(fmt::format("{} '{}' is a folder of the results, -o {}: choose another name",
                                 file.option, file.path, output.shown(1)));
  if (named.parent_path() == whole.parent_path() &&
      io::is_result_name(output.name, named.filename().string()))
    throw InputError(fmt::format("{} '{}' has a name of the results, -o {}: choose another one",
                                 file.option, file.path, output.shown(1)));
}

bool is_in(const fs::path& folder, const fs::path& file) {
  const auto named = [](const fs::path& path) { return path.empty() ? fs::path(".") : path; };
  std::error_code ignored;  // a folder that does not exist yet holds no input
  return fs::equivalent(named(folder), named(file.parent_path()), ignored);
}

/// Files under names of results.
std::vector<std::string> existing_results(const OutputName& output) {
  const fs::path folder = output.directory.empty() ? "." : output.directory;
  std::vector<std::string> files;
  std::error_code ignored;  // a folder that does not exist yet holds nothing
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string path = entry.path().string();
    if (!io::is_result_name(output.name, entry.path().filename().string())) continue;
    if (entry.is_directory(ignored))
      throw InputError(fmt::format(
          "-o {} would replace '{}' or lie beside it, which is a folder: choose another name, or "
          "move it away",
          output.shown(1), path));
    if (entry.is_regular_file(ignored)) files.push_back(path);
  }
  return files;
}

/// A file that the run needs as it is.
struct FileRead {
  std::string path;
  std::string reason;  ///< for messages
};

std::vector<FileRead> files_read(const RunFiles& files) {
  std::vector<FileRead> all;
  for (const std::string& input : files.inputs) all.push_back({input, "which is read"});
  for (const std::string& origin : files.origins)
    all.push_back({origin, "which is read through a link or a virtual dataset of an input"});
  return all;
}

/// The path, and what each link leads to if it is one: a result in place of any of them would hide
/// what is read.
std::vector<fs::path> steps_to(const std::string& input) {
  constexpr std::size_t max_links = 40;  // as the system follows
  std::vector<fs::path> steps{input};
  std::error_code ignored;
  while (steps.size() <= max_links && fs::is_symlink(fs::symlink_status(steps.back(), ignored)))
    steps.push_back(steps.back().parent_path() / fs::read_symlink(steps.back(), ignored));
  return steps;
}

/// The same for two names of one file.
using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> id_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

/// `path` is the file's own, that of a link to it, or another name of it.
[[noreturn]] void refuse_to_replace(const OutputName& output, const std::string& path,
                                    const FileRead& file) {
  const std::string whose = path == file.path ? "" : fmt::format("a name of '{}', ", file.path);
  throw InputError(fmt::format("-o {} would replace '{}', {}{}: choose another name",
                               output.shown(1), path, whose, file.reason));
}

void check_output_stays_off(const OutputName& output, const std::vector<FileRead>& inputs) {
  for (const FileRead& input : inputs) {
    for (const fs::path& path : steps_to(input.path)) {
      if (io::is_result_name(output.name, path.filename().string()) &&
          is_in(output.directory, path))
        refuse_to_replace(output, path.string(), input);
    }
  }
  std::map<FileId, std::string> existing;
  for (const std::string& path : existing_results(output)) {
    if (const auto id = id_of(path)) existing.emplace(*id, path);
  }
  if (existing.empty()) return;
  for (const FileRead& input : inputs) {
    const auto id = id_of(input.path);
    const auto found = id ? existing.find(*id) : existing.end();
    if (found != existing.end()) refuse_to_replace(output, found->second, input);
  }
}

void check_named_stays_off(const NamedFile& file, const std::vector<FileRead>& inputs) {
  if (is_standard_output(file.path)) return;
  const auto id = id_of(file.path);
  for (const FileRead& input : inputs) {
    if (id && id == id_of(input.path))
      throw InputError(fmt::format("{} '{}' would replace '{}', {}: choose another name",
                                   file.option, file.path, input.path, input.reason));
  }
}

/// A file that begins otherwise than the result is somebody's snapshot, table or text.
void check_named_is_free(const NamedFile& file) {
  std::error_code ignored;
  if (is_open_already(file.path) || !fs::is_regular_file(file.path, ignored)) return;
  std::ifstream existing(file.path, std::ios::binary);
  std::string found(128, '\0');
  existing.read(found.data(), static_cast<std::streamsize>(found.size()));
  found.resize(static_cast<std::size_t>(existing.gcount()));
  if (found.empty() && fs::file_size(file.path, ignored) > 0)
    throw FileError(fmt::format(
        "{} '{}' would replace a file that cannot be read: choose another name, or move that file "
        "away",
        file.option, file.path));
  const bool is_such =
      found.rfind(file.beginning, 0) == 0 && found.find(file.mark) != std::string::npos;
  if (!found.empty() && !is_such)
    throw InputError(fmt::format(
        "{0} '{1}' would replace a file that was not written by {0}: choose another name, or move "
        "that file away",
        file.option, file.path));
}

/// A folder of results inside that of -o, which is seen when all has been computed.
void check_folder(const OutputName& output) {
  const fs::path folder = output.directory;
  std::error_code ignored;
  if (!fs::is_directory(folder.parent_path(), ignored) || !fs::exists(folder, ignored)) return;
  if (!fs::is_directory(folder, ignored))
    throw FileError(
        fmt::format("-o: directory '{0}' cannot be made: '{0}' is a file", folder.string()));
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
    throw FileError(fmt::format("-o: directory '{}' cannot be written to: {}", folder.string(),
                                std::strerror(errno)));
}

/// Whether results that name `snapshot` may be of what is read now. A path may be of another folder
/// than the current one: then its last part tells.
bool is_read(const std::string& snapshot, const RunFiles& files) {
  std::error_code ignored;
  const bool exists = fs::exists(snapshot, ignored);
  return std::any_of(files.inputs.begin(), files.inputs.end(), [&](const std::string& input) {
    return exists ? fs::equivalent(snapshot, input, ignored)
                  : fs::path(snapshot).filename() == fs::path(input).filename();
  });
}

/// Longer names cannot be given to what has been computed.
void check_length(const std::string& option, const fs::path& path) {
  const std::size_t length = path.filename().string().size();
  if (length > NAME_MAX)
    throw InputError(fmt::format("{} '{}': the name has {} characters, files have at most {}",
                                 option, path.string(), length, NAME_MAX));
}

/// What an earlier run wrote as the same kind of result is replaced. All else is somebody's work:
/// another code's simulation, or zhalo's initial conditions.
void check_may_be_replaced(const OutputName& output, const std::string& path) {
  const io::Content found = io::content_of(path);
  if (found == io::Content::nothing || found == output.content) return;
  if (found == io::Content::another_code)
    throw InputError(fmt::format(
        "-o {} would replace '{}' or lie beside it, which zhalo did not write: choose another "
        "name, or move that file away",
        output.shown(1), path));
  throw InputError(fmt::format(
      "-o {} would replace '{}' or lie beside it, which is {}, and not {}: choose another name, or "
      "move that file away",
      output.shown(1), path, io::describe(found), io::describe(output.content)));
}

/// Each rank looks into its share of the files that are there: there may be thousands.
/// Collective.
void check_output_is_free(const Communicator& comm, const OutputName& output) {
  std::string joined;
  comm.together([&] {
    if (comm.rank() != 0) return;
    for (const std::string& path : existing_results(output)) joined += path + '\0';
  });
  std::vector<std::string> paths;
  std::istringstream all(comm.broadcast(joined, 0));
  for (std::string path; std::getline(all, path, '\0');) paths.push_back(path);
  const Share own = share_of(static_cast<Index>(paths.size()), comm.rank(), comm.size());
  comm.together([&] {
    for (Index i = own.first; i < own.first + own.count; ++i)
      check_may_be_replaced(output, paths[static_cast<std::size_t>(i)]);
  });
}

void warn_of_replaced(const OutputName& output, const RunFiles& files, std::string& warnings) {
  const std::vector<std::string> all = existing_results(output);
  if (all.empty()) return;
  const std::string& results = all.back();
  const std::string snapshot = io::snapshot_of_results(results);
  if (snapshot.empty() || is_read(snapshot, files)) return;
  warnings += fmt::format(
      "'{}' is of another snapshot of the same number, '{}', and will be replaced (give another -o "
      "to keep it)\n",
      results, snapshot);
}

/// Returns warnings, one in each line.
std::string check_all(const RunFiles& files) {
  std::string warnings;
  const std::vector<FileRead> inputs = files_read(files);
  for (const OutputName& output : files.outputs) check_output_stays_off(output, inputs);
  for (const OutputName& output : files.outputs) {
    check_folder(output);
    const std::string number = files.num_files > 1 ? fmt::format(".{}", files.num_files - 1) : "";
    check_length("-o", output.name + number + ".hdf5");
    if (warnings.empty() && !output.is_chosen)  // one says it for all
      warn_of_replaced(output, files, warnings);
  }
  for (auto a = files.named.begin(); a != files.named.end(); ++a) {
    if (a->path.empty()) continue;
    check_length(a->option, a->path);
    for (auto b = files.named.begin(); b != a; ++b) {
      if (!b->path.empty()) check_apart(*b, *a);
    }
    for (const OutputName& output : files.outputs) check_beside_output(*a, output);
    check_named_stays_off(*a, inputs);
    check_named_is_free(*a);
  }
  return warnings;
}

}  // namespace

void check_names(const Communicator& comm, const RunFiles& files,
                 std::vector<std::string>& warnings) {
  std::string text;
  comm.together([&] {
    if (comm.rank() == 0) text = check_all(files);
  });
  for (const OutputName& output : files.outputs) check_output_is_free(comm, output);
  std::istringstream lines(comm.broadcast(text, 0));
  for (std::string line; std::getline(lines, line);) warnings.push_back(line);
}

}  // namespace zhalo::app
