#include "src/io/snapshot/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "src/comm/exchange.hpp"
#include "src/io/hdf5/input.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::io {

namespace fs = std::filesystem;

namespace {

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Of digits; nothing if they are more than nine besides leading zeros.
std::optional<int> number_of(const std::string& digits) {
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  if (digits.size() - first > 9) return std::nullopt;
  return std::stoi(digits.substr(first));
}

bool is_hdf5_name(const fs::path& path) {
  return path.extension() == ".hdf5" || path.extension() == ".h5";
}

/// By the names that group finders and zhalo's commands give to what they write.
bool is_result(const std::string& name) {
  const auto begins = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  return begins("fof_") || begins("groups_") || begins("membership_") || begins("knn_") ||
         begins("density_") || begins(".");
}

std::map<std::string, std::string> snapshots_in(const std::string& directory) {
  return first_files_in(
      directory, [](const std::string& name) { return is_hdf5_name(name) && !is_result(name); });
}

std::string first_file_in(const std::string& directory) {
  const auto snapshots = snapshots_in(directory);
  if (snapshots.empty())
    throw FileError(fmt::format(
        "directory '{}' holds no snapshot: no file in it ends in .hdf5 or .h5, but for results "
        "(fof_..., groups_..., membership_..., knn_..., density_...)",
        directory));
  if (snapshots.size() == 1) return snapshots.begin()->second;
  std::vector<std::string> some;
  for (const auto& [stem, path] : snapshots) {
    if (some.size() < 4) some.push_back(stem);
  }
  throw InputError(fmt::format("directory '{}' holds {} snapshots ({}{}): name one of them",
                               directory, snapshots.size(), fmt::join(some, ", "),
                               snapshots.size() > some.size() ? ", ..." : ""));
}

}  // namespace

FileName FileName::of(const std::string& path) {
  const fs::path whole(path);
  FileName name;
  name.directory = whole.parent_path().string();
  fs::path stem = whole.filename();
  if (is_hdf5_name(stem)) {
    name.extension = stem.extension().string();
    stem = stem.stem();
  }
  const std::string number = stem.extension().string();
  if (all_digits(number.substr(std::min<std::size_t>(number.size(), 1)))) {
    if (const auto chunk = number_of(number.substr(1))) {
      name.chunk = *chunk;
      stem = stem.stem();
    }
  }
  name.stem = stem.string();
  return name;
}

std::string FileName::path_of_chunk(int other) const {
  return (fs::path(directory) / fmt::format("{}.{}{}", stem, other, extension)).string();
}

std::string digits_in(const std::string& name, const std::string& prefix) {
  const std::string head = prefix + ".", tail = ".hdf5";
  if (name.size() < head.size() + tail.size()) return {};
  if (!name.starts_with(head) || !name.ends_with(tail)) return {};
  const std::string digits = name.substr(head.size(), name.size() - head.size() - tail.size());
  return all_digits(digits) ? digits : std::string();
}

std::map<std::string, std::string> first_files_in(
    const std::string& directory, const std::function<bool(const std::string&)>& is_wanted) {
  std::map<std::string, std::string> first;
  for (const std::string& path : files_in(directory)) {
    if (!is_wanted(fs::path(path).filename().string())) continue;
    const FileName name = FileName::of(path);
    std::string& known = first[name.stem];
    if (known.empty() || name.chunk < FileName::of(known).chunk) known = path;
  }
  return first;
}

std::string find_first_file(const std::string& path) {
  const fs::file_status status = status_of(path);
  if (fs::is_directory(status)) return first_file_in(path);
  if (fs::exists(status)) return path;
  for (const char* ending : {".hdf5", ".0.hdf5", ".h5", ".0.h5"}) {
    if (fs::exists(status_of(path + ending))) return path + ending;
  }
  throw FileError(
      fmt::format("'{}': no such file or directory ('{}.hdf5' and '{}.0.hdf5' do not exist either)",
                  path, path, path));
}

namespace {

/// A link under the name of another file would bring what is in it twice.
void check_each_is_its_own(const std::vector<std::string>& files) {
  std::map<std::pair<dev_t, ino_t>, std::string> known;
  for (const std::string& path : files) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) continue;  // opening it says why
    const auto [other, is_new] = known.emplace(std::pair(status.st_dev, status.st_ino), path);
    if (!is_new)
      throw FileError(
          fmt::format("'{}' and '{}' are one file, by a link: what is in it would count twice (put "
                      "the right file in the place of the link)",
                      other->second, path));
  }
}

}  // namespace

std::vector<std::string> all_chunks(const std::string& file, Index num_files,
                                    const std::string& whole) {
  if (num_files < 1 || num_files > max_files)
    throw FileError(fmt::format(
        "'{}' says that it is one of {} files of a {} (must be 1 to {}): the file is damaged", file,
        num_files, whole, max_files));
  if (num_files == 1) return {file};
  const FileName name = FileName::of(file);
  if (name.chunk < 0) {
    throw FileError(
        fmt::format("'{}' says that it is one of {} files of a {}, but its name has no number: it "
                    "should be called '{}'",
                    file, num_files, whole, name.path_of_chunk(0)));
  }
  std::vector<std::string> files;
  for (int chunk = 0; chunk < static_cast<int>(num_files); ++chunk) {
    files.push_back(name.path_of_chunk(chunk));
    if (!fs::exists(status_of(files.back()))) {
      throw FileError(fmt::format("'{}' is missing: the {} has {} files, says '{}'", files.back(),
                                  whole, num_files, file));
    }
  }
  check_each_is_its_own(files);
  return files;
}

namespace {

[[noreturn]] void refuse_to_read(const std::string& path) {
  throw FileError(fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
}

class BytesOfFile {
 public:
  explicit BytesOfFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) refuse_to_read(path);
  }

  /// As many bytes as are there, from here on.
  std::string_view read(std::vector<char>& block) {
    file_.read(block.data(), std::ssize(block));
    if (file_.bad()) refuse_to_read(path_);
    return {block.data(), static_cast<std::size_t>(file_.gcount())};
  }
  std::string_view read_at(std::uintmax_t offset, std::vector<char>& block) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    return read(block);
  }

 private:
  std::string path_;
  std::ifstream file_;
};

}  // namespace

std::uint64_t sample_of(const std::string& path) {
  constexpr std::uintmax_t num_blocks = 8;
  BytesOfFile file(path);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) refuse_to_read(path);
  std::vector<char> block(512);
  std::string sample = std::to_string(size);
  for (std::uintmax_t i = 0; i < num_blocks; ++i)
    sample += file.read_at(size / num_blocks * i, block);
  return std::hash<std::string>()(sample);
}

bool have_same_bytes(const std::string& a, const std::string& b) {
  BytesOfFile file_a(a), file_b(b);
  std::vector<char> block_a(1 << 16), block_b(1 << 16);
  while (true) {
    const std::string_view bytes = file_a.read(block_a);
    if (bytes != file_b.read(block_b)) return false;
    if (bytes.empty()) return true;
  }
}

namespace {

/// None in a folder whose files may be opened, but not listed.
std::vector<std::string> files_that_can_be_seen(const std::string& directory) {
  try {
    return files_in(directory.empty() ? "." : directory);
  } catch (const FileError&) {
    return {};
  }
}

}  // namespace

std::vector<std::string> chunks_beyond(const std::vector<std::string>& files, bool is_named) {
  const FileName first = FileName::of(files.front());
  if (first.chunk < 0) return {};
  std::map<int, std::string> chunks;  // to their files
  for (const std::string& path : files_that_can_be_seen(first.directory)) {
    const FileName name = FileName::of(path);
    if (name.stem == first.stem && name.extension == first.extension && name.chunk >= 0)
      chunks.emplace(name.chunk, path);
  }
  const bool begin_at_0 = !chunks.empty() && chunks.begin()->first == 0 &&
                          chunks.rbegin()->first + 1 == std::ssize(chunks);
  if (files.size() == 1 && is_named && !begin_at_0) return {};
  if (files.size() == 1) chunks.erase(first.chunk);
  if (files.size() > 1)
    chunks.erase(chunks.begin(), chunks.lower_bound(static_cast<int>(files.size())));
  std::vector<std::string> beyond;
  beyond.reserve(chunks.size());
  for (const auto& [chunk, path] : chunks) beyond.push_back(path);
  return beyond;
}

std::optional<int> snapshot_number(const std::string& stem) {
  std::string last;
  for (std::size_t begin = 0; begin <= stem.size();) {
    const std::size_t end = std::min(stem.find('_', begin), stem.size());
    if (const std::string token = stem.substr(begin, end - begin); all_digits(token)) last = token;
    begin = end + 1;
  }
  if (!last.empty()) return number_of(last);
  const std::size_t letters = stem.find_last_not_of("0123456789");
  const std::string tail = letters == std::string::npos ? stem : stem.substr(letters + 1);
  return tail.size() >= 3 ? number_of(tail) : 0;
}

// The files on which an input draws.

using hdf5::Origins;
using hdf5::VirtualPart;

namespace {

std::optional<hdf5::InputFile> open_part(const VirtualPart& part) {
  if (part.file == ".") return hdf5::InputFile(part.holder);
  for (const std::filesystem::path& path : hdf5::virtual_paths(part.file, part.holder)) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) continue;
    try {
      return hdf5::InputFile(path.string());
    } catch (const FileError&) {  // HDF5 goes on to the next one
    }
  }
  return std::nullopt;
}

/// What one file of parts draws on, and that file itself. What is wrong with a part says who reads
/// it, if anybody does.
void look_into_parts(const std::vector<VirtualPart>& parts, Origins& found) {
  const auto ignoring_faults = [](const auto& look) {
    try {
      look();
    } catch (const FileError&) {
    }
  };
  ignoring_faults([&] {
    const auto file = open_part(parts.front());
    if (!file) return;
    found.files.insert(file->path());
    for (const VirtualPart& part : parts) {
      ignoring_faults([&] {
        if (file->has(part.dataset)) file->note_origins_of(part.dataset);
      });
    }
    found.add(file->origins());
  });
}

/// The parts in one file are one task.
std::vector<std::vector<VirtualPart>> by_file(const std::set<VirtualPart>& parts) {
  std::map<std::pair<std::string, std::string>, std::vector<VirtualPart>> files;
  for (const VirtualPart& part : parts) files[{part.holder, part.file}].push_back(part);
  std::vector<std::vector<VirtualPart>> tasks;
  tasks.reserve(files.size());
  for (auto& [_, of_file] : files) tasks.push_back(std::move(of_file));
  return tasks;
}

/// What all ranks found, on rank 0.
Origins on_first_rank(const Communicator& comm, const Origins& found) {
  const std::string bytes = to_bytes(found);
  std::vector<std::vector<char>> for_ranks(static_cast<std::size_t>(comm.size()));
  for_ranks.front().assign(bytes.begin(), bytes.end());
  const std::vector<char> all = exchanged(comm, for_ranks).elements;
  return origins_from_bytes({all.begin(), all.end()});
}

}  // namespace

std::vector<std::string> all_origins(const Communicator& comm, Origins found) {
  const bool is_first = comm.rank() == 0;
  std::set<VirtualPart> known;  // on rank 0
  for (int level = 0;; ++level) {
    Origins next;
    if (is_first) {
      std::set_difference(found.parts.begin(), found.parts.end(), known.begin(), known.end(),
                          std::inserter(next.parts, next.parts.end()));
      known.insert(next.parts.begin(), next.parts.end());
      if (level > hdf5::max_virtual_levels) next.parts.clear();  // reading refuses them
      if (next.parts.empty()) next.files = found.files;
    }
    next = origins_from_bytes(comm.broadcast(is_first ? to_bytes(next) : std::string()));
    if (next.parts.empty()) return {next.files.begin(), next.files.end()};
    const auto tasks = by_file(next.parts);
    const Share mine = share_of(std::ssize(tasks), comm.rank(), comm.size());
    Origins here;
    for (Index i = mine.first; i < mine.first + mine.count; ++i)
      look_into_parts(tasks[static_cast<std::size_t>(i)], here);
    found.add(on_first_rank(comm, here));
  }
}

}  // namespace zhalo::io
