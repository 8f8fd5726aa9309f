// The directories of results: making them, and locks that keep two commits in one apart.
#include "zhalo/io/staged_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace fs = std::filesystem;

/// Of one directory.
class CommitLocks::Lock {
 public:
  explicit Lock(const std::string& directory)
      : path_((fs::path(directory) / ".zhalo-lock").string()) {}
  ~Lock() {
    if (file_ < 0) return;
    ::unlink(path_.c_str());
    ::close(file_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  bool try_to_take() {
    file_ = opened();
    if (file_ < 0) refuse();
    const bool taken = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (taken ? is_still_there() : errno != EWOULDBLOCK && errno != EINTR)
      return true;  // or there are no locks here
    ::close(std::exchange(file_, -1));
    return false;
  }

 private:
  /// What was just not opened.
  [[noreturn]] void refuse() const {
    const std::string reason = std::strerror(errno);
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path_, ignored)))
      throw FileError(fmt::format(
          "'{}' cannot be made: {}; make room for files there, or choose another folder", path_,
          reason));
    throw FileError(fmt::format(
        "'{}' cannot be opened: {}; if no other run is under way there, remove it", path_, reason));
  }

  /// One that another user has left may not be written to; to lock it, it need not be.
  int opened() const {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return file < 0 && errno == EACCES ? ::open(path_.c_str(), O_RDONLY | O_CLOEXEC) : file;
  }

  /// Whoever had the lock before removes the file: it may be another one by the time that this
  /// process has it.
  bool is_still_there() const {
    struct stat taken {};
    struct stat named {};
    return ::fstat(file_, &taken) == 0 && ::stat(path_.c_str(), &named) == 0 &&
           taken.st_ino == named.st_ino;
  }

  std::string path_;
  int file_ = -1;
};

namespace {

/// Each once, however it is named, and in the same order in all runs.
std::vector<std::string> directories_of(const std::vector<StagedFiles*>& files) {
  std::set<std::string> all;
  for (const StagedFiles* one : files) {
    std::error_code ignored;
    const fs::path whole = fs::weakly_canonical(one->directory(), ignored);
    all.insert(whole.empty() ? one->directory() : whole.string());
  }
  return {all.begin(), all.end()};
}

}  // namespace

/// All or none: whoever has one of two does not wait for the other.
bool CommitLocks::try_to_take(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    locks_.push_back(std::make_unique<Lock>(directory));
    if (locks_.back()->try_to_take()) continue;
    locks_.clear();
    return false;
  }
  return true;
}

CommitLocks::CommitLocks(const std::vector<StagedFiles*>& files,
                         const std::function<void()>& while_waiting) {
  if (files.empty()) return;
  const Communicator& comm = files.front()->comm();
  comm.together([&] {
    if (comm.rank() != 0) return;
    for (StagedFiles* one : files) one->make_missing(one->directory());  // as stage() does
  });
  const std::vector<std::string> directories = directories_of(files);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  bool taken = false;
  while (!taken) {
    comm.together([&] {
      while_waiting();
      bool here = comm.rank() != 0 || try_to_take(directories);
      if (!here && std::chrono::steady_clock::now() > end)
        throw FileError(
            fmt::format("another run has been replacing the results in '{}' for a minute: wait "
                        "until it has ended, or choose another folder",
                        directories.front()));
      if (!here) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      taken = comm.min(Index{here}) != 0;
    });
  }
  files_ = files;
  for (StagedFiles* one : files_) one->is_locked_ = true;
}

CommitLocks::~CommitLocks() {
  for (StagedFiles* one : files_) one->is_locked_ = false;
}

// Making them.

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
