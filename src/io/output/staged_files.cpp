#include "zhalo/io/staged_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "src/io/output/file_set.hpp"
#include "src/io/snapshot/files.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace fs = std::filesystem;

namespace {

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Files and directories alike: until the disk has it.
void sync_to_disk(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool ok = file >= 0 && (::fsync(file) == 0 ||
                                errno == EINVAL);  // some file systems know no fsync of directories
  const int reason = errno;
  if (file >= 0) ::close(file);
  if (!ok) throw FileError(fmt::format("'{}' cannot be written: {}", path, std::strerror(reason)));
}

/// Two runs at once, also on different machines, have different names.
std::string name_of_run() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{}-{:x}", ::getpid(), now);
}

}  // namespace

StagedFiles::StagedFiles(const Communicator& comm, std::string directory, Writers writers)
    : comm_(&comm), directory_(std::move(directory)) {
  try {
    comm_->together([&] {
      directory_ = comm_->broadcast(comm_->rank() == 0 ? without_detours(directory_) : "");
      run_ = comm_->broadcast(name_of_run());
      comm_->barrier();  // other ranks may still be removing the directories of an object before
                         // this one
      make_directories_from_rank_zero(directory_);
      const bool writes = writers == Writers::all_ranks || comm_->rank() == 0;
      if (writes) check_writable(directory_);
    });
  } catch (...) {
    discard_beyond({});
    throw;
  }
}

/// By a file of a name that no other rank or run has.
void StagedFiles::check_writable(const std::string& directory) const {
  const std::string probe = fmt::format("{}/.zhalo-probe.{}.{}", directory, run_, comm_->rank());
  const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    throw FileError(
        fmt::format("directory '{}' cannot be written to: {}", directory, std::strerror(errno)));
  ::close(file);
  ::unlink(probe.c_str());
}

StagedFiles::~StagedFiles() { discard_beyond({}); }

/// Notes them at once, before other ranks can stop this one.
void StagedFiles::make_missing(const std::string& directory) {
  make_directories(directory, made_directories_);
}

void StagedFiles::make_directories_from_rank_zero(const std::string& path) {
  const bool first = comm_->rank() == 0;
  const std::size_t num_before = made_directories_.size();
  if (first) make_missing(path);
  std::string made;
  for (std::size_t i = num_before; i < made_directories_.size(); ++i)
    made += made_directories_[i] + '\0';
  std::istringstream all(comm_->broadcast(made));
  for (std::string directory; std::getline(all, directory, '\0');) {
    if (!first) made_directories_.push_back(directory);
  }
}

void StagedFiles::make_directory(const std::string& name) {
  comm_->together([&] {
    const std::string path = (fs::path(directory_) / name).string();
    make_directories_from_rank_zero(path);
    check_writable(path);
  });
}

/// In the same directory, so that a rename is enough. Of a name that would be too long with what is
/// added, the end, where names of one run differ.
std::string StagedFiles::hidden_beside(const std::string& path, const char* ending) const {
  const fs::path target(path);
  const std::string added = fmt::format(".{}.{}", run_, ending);
  std::string name = target.filename().string();
  const long longest = ::pathconf(parent_of(path).c_str(), _PC_NAME_MAX);
  const auto room = (longest > 0 ? longest : NAME_MAX) - 1 - std::ssize(added);
  if (std::ssize(name) > room) {
    const auto is_inside_character = [](char c) { return (c & 0xc0) == 0x80; };  // of UTF-8
    auto end = name.end() - std::max<std::ptrdiff_t>(room, 0);
    name.erase(name.begin(), std::find_if_not(end, name.end(), is_inside_character));
  }
  return (target.parent_path() / fmt::format(".{}{}", name, added)).string();
}

std::string StagedFiles::stage(const std::string& name, Appears when) {
  const std::string final_path = (fs::path(directory_) / name).string();
  // Another run that made it may have failed since, and taken it away again.
  make_missing(parent_of(final_path));
  staged_.push_back({hidden_beside(final_path, "part"), final_path, when});
  synced_ = false;
  return staged_.back().temporary;
}

std::string StagedFiles::join(const std::string& name) {
  joined_.push_back(hidden_beside((fs::path(directory_) / name).string(), "part"));
  synced_ = false;
  return joined_.back();
}

void StagedFiles::claim_numbered(const std::string& prefix, Index num_files, IsOurs is_ours) {
  numbered_.push_back({prefix, num_files, std::move(is_ours)});
}

void StagedFiles::all_or_nothing(const std::function<void()>& work) {
  const Counts before{made_directories_.size(), numbered_.size(), retired_.size(), staged_.size(),
                      joined_.size()};
  try {
    comm_->together(work);
  } catch (...) {
    discard_beyond(before);
    throw;
  }
}

/// Every rank tries to remove the new directories; the last one finds them empty and succeeds.
void StagedFiles::discard_beyond(const Counts& kept) noexcept {
  std::error_code ignored;
  for (; staged_.size() > kept.staged; staged_.pop_back())
    fs::remove(staged_.back().temporary, ignored);
  for (; made_directories_.size() > kept.made_directories; made_directories_.pop_back())
    fs::remove(made_directories_.back(), ignored);
  while (numbered_.size() > kept.numbered) numbered_.pop_back();
  while (retired_.size() > kept.retired) retired_.pop_back();
  while (joined_.size() > kept.joined) joined_.pop_back();
}

namespace {

void rename_into_place(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw FileError(fmt::format("'{}' cannot be put in place: {}", to, error.message()));
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  const auto status = fs::symlink_status(path, ignored);
  return fs::is_regular_file(status) || fs::is_symlink(status);
}

/// A second name for a file, so that it is never without its own; a new name on file systems that
/// know no second ones.
void keep_as(const std::string& path, const std::string& name) {
  if (::link(path.c_str(), name.c_str()) == 0 || ::rename(path.c_str(), name.c_str()) == 0) return;
  throw FileError(fmt::format("'{}', which is to be replaced, cannot be kept meanwhile: {}", path,
                              std::strerror(errno)));
}

/// The number of "PREFIX.NUMBER.hdf5"; -1 if the name is not of that form.
Index number_in(const std::string& name, const std::string& prefix) {
  const std::string digits = digits_in(name, prefix);
  if (digits.empty() || digits.size() > 18) return -1;
  const Index number = std::stoll(digits);
  return std::to_string(number) == digits ? number : -1;
}

/// Files of an earlier run, from this number on: readers that look for the next number would find
/// them.
std::vector<std::string> leftovers(const std::string& prefix, Index first,
                                   const StagedFiles::IsOurs& is_ours) {
  const std::string directory = parent_of(prefix);
  const std::string name = fs::path(prefix).filename().string();
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    const Index number = number_in(at->path().filename().string(), name);
    if (number < first || !is_file(path)) continue;
    if (!is_ours || is_ours(path, number)) found.push_back(path);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw FileError(
        fmt::format("directory '{}' cannot be read: {}; files of an earlier run might "
                    "stay there",
                    directory, error.message()));
  return found;
}

/// Each once.
void sync_parents_to_disk(const std::vector<std::string>& paths) {
  std::set<std::string> parents;
  for (const auto& path : paths) parents.insert(parent_of(path));
  for (const auto& parent : parents) sync_to_disk(parent);
}

}  // namespace

/// On rank 0.
std::vector<std::string> StagedFiles::numbered_leftovers() const {
  std::vector<std::string> found;
  if (comm_->rank() != 0) return found;
  for (const auto& [prefix, num_files, is_ours] : numbered_) {
    const auto some = leftovers((fs::path(directory_) / prefix).string(), num_files, is_ours);
    found.insert(found.end(), some.begin(), some.end());
  }
  return found;
}

/// Files of an earlier run that this rank takes away: those that its own replace, and on rank 0
/// those that nothing replaces.
std::vector<std::string> StagedFiles::earlier_files(Appears which) const {
  std::vector<std::string> found;
  for (const auto& file : staged_) {
    if (file.appears == which && !single_) found.push_back(file.final_path);
  }
  if (comm_->rank() != 0) return found;
  if (which == Appears::last) {
    for (const auto& [name, is_ours] : retired_) {
      const std::string path = (fs::path(directory_) / name).string();
      if (!is_ours || (is_file(path) && is_ours(path, 0))) found.push_back(path);
    }
    return found;
  }
  const std::vector<std::string> numbered = numbered_leftovers();
  found.insert(found.end(), numbered.begin(), numbered.end());
  return found;
}

void StagedFiles::set_aside(Appears which) {
  const std::vector<std::string> found = earlier_files(which);
  for (const auto& path : found) {
    if (!is_file(path)) continue;
    kept_.push_back({path, hidden_beside(path, "old")});
    if (::rename(path.c_str(), kept_.back().kept_as.c_str()) != 0) {
      throw FileError(fmt::format("'{}', of an earlier run, cannot be removed: {}", path,
                                  std::strerror(errno)));
    }
  }
  sync_parents_to_disk(found);
}

void StagedFiles::put_in_place(Appears which) {
  for (const auto& file : staged_) {
    if (file.appears != which) continue;
    if (single_ && is_file(file.final_path)) {
      kept_.push_back({file.final_path, hidden_beside(file.final_path, "old")});
      keep_as(kept_.back().path, kept_.back().kept_as);
    }
    rename_into_place(file.temporary, file.final_path);
    placed_.push_back(file.final_path);
  }
  sync_parents_to_disk(placed_);
}

/// Wherever a rank is stopped, what has its name is of the earlier run or of this one, never of
/// both: ranks begin a step when all have ended the one before. Files that show others are the
/// first to go and the last to come.
void StagedFiles::replace_all() {
  comm_->together([&] {
    single_ = comm_->sum(static_cast<Index>(staged_.size() + numbered_leftovers().size())) == 1;
  });
  comm_->together([&] { set_aside(Appears::last); });
  comm_->together([&] { set_aside(Appears::in_any_order); });
  comm_->together([&] { put_in_place(Appears::in_any_order); });
  comm_->together([&] { put_in_place(Appears::last); });
}

void StagedFiles::remove_placed() noexcept {
  std::error_code error;
  for (const auto& path : placed_) {
    const bool replaced = std::any_of(kept_.begin(), kept_.end(),
                                      [&](const Kept& file) { return file.path == path; });
    if (!single_ || !replaced) fs::remove(path, error);
  }
  placed_.clear();
}

void StagedFiles::restore() noexcept {
  std::error_code error;
  for (const auto& file : kept_) {
    fs::rename(file.kept_as, file.path, error);
    // A rename does nothing to two names of one file, as there are if the path was never taken.
    if (!error) fs::remove(file.kept_as, error);
  }
  kept_.clear();
}

/// As it was before the commit. What cannot be brought back stays under the name at which it was
/// kept; so does everything if ranks are lost: their new files may be in place, and must not meet
/// old ones.
void StagedFiles::undo() noexcept {
  if (comm_->is_broken()) return;
  try {
    comm_->together([&] { remove_placed(); });
    comm_->together([&] { restore(); });
  } catch (...) {
    return;  // the error that led here is the one to tell
  }
}

std::vector<std::string> StagedFiles::final_paths() const {
  std::vector<std::string> paths;
  for (const Staged& file : staged_) paths.push_back(file.final_path);
  return paths;
}

void StagedFiles::sync() {
  comm_->together([&] {
    if (synced_) return;  // other ranks may have staged more since
    for (const auto& path : joined_) sync_to_disk(path);
    for (const auto& file : staged_) sync_to_disk(file.temporary);
    synced_ = true;
  });
}

std::vector<std::string> StagedFiles::commit() {
  sync();
  std::optional<CommitLocks> own;
  if (!is_locked_) own.emplace(std::vector<StagedFiles*>{this});
  try {
    replace_all();
  } catch (...) {
    undo();
    throw;
  }
  std::error_code ignored;
  for (const auto& file : kept_) fs::remove(file.kept_as, ignored);
  kept_.clear();
  staged_.clear();
  joined_.clear();
  numbered_.clear();
  retired_.clear();
  made_directories_.clear();
  return std::exchange(placed_, {});
}

}  // namespace zhalo::io
