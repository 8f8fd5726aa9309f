#include "apps/report/text_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/cli/process.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::app {

namespace fs = std::filesystem;

/// Also as /dev/stdout, which may be a regular file by another name.
bool is_standard_output(const std::string& path) {
  struct stat named {};
  struct stat output {};
  if (path == "-") return true;
  if (::stat(path.c_str(), &named) != 0 || ::fstat(STDOUT_FILENO, &output) != 0) return false;
  return named.st_dev == output.st_dev && named.st_ino == output.st_ino;
}

TextFile::Target TextFile::target_of(const std::string& path) {
  if (path.empty()) return Target::none;
  if (is_standard_output(path)) return Target::standard_output;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return Target::folder;
  return fs::exists(status) && !fs::is_regular_file(status) ? Target::file_as_it_is
                                                            : Target::staged_file;
}

namespace {

/// A folder is not made for a file: its name may be a slip.
void check_folder(const std::string& option, const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder.empty() ? "." : folder, error);
  if (fs::is_directory(status)) return;
  if (error && error != std::errc::no_such_file_or_directory)
    throw FileError(fmt::format("{} '{}': '{}' cannot be looked into: {}", option, path, folder,
                                error.message()));
  throw FileError(fmt::format("{} '{}': '{}' {}", option, path, folder,
                              fs::exists(status)
                                  ? "is no folder"
                                  : "is not there: make the folder, or choose another one"));
}

}  // namespace

TextFile::TextFile(const Communicator& comm, const std::string& option, const std::string& path)
    : comm_(&comm), option_(option), path_(path) {
  comm.together([&] {
    // Other machines may see other files at the same path: rank 0 decides.
    const Target mine = comm.rank() == 0 ? target_of(path) : Target::none;
    target_ = static_cast<Target>(comm.max(static_cast<Index>(mine)));
    if (target_ == Target::folder)
      throw FileError(fmt::format("{} '{}' is a folder: name a file", option, path));
    if (target_ != Target::staged_file) return;
    const std::string folder = fs::path(path).parent_path().string();
    if (comm.rank() == 0) check_folder(option, path, folder);
    files_.emplace(comm, folder, io::StagedFiles::Writers::rank_zero);
    if (comm.rank() == 0) temporary_ = files_->stage(fs::path(path).filename().string());
  });
}

/// A pipe or a device. A pipe waits for its reader, and signals end the wait: neither the opening
/// nor the writing blocks.
class Stream {
 public:
  explicit Stream(const std::string& path) {
    std::error_code ignored;
    const bool is_pipe = fs::is_fifo(path, ignored);
    while (!open(path) && (errno == EINTR || (is_pipe && errno == ENXIO))) {
      check_interrupted();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  ~Stream() { close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Whether all of it was written.
  bool write(std::string_view text) {
    while (file_ >= 0 && !text.empty()) {
      check_interrupted();
      pollfd room{file_, POLLOUT, 0};
      constexpr int milliseconds = 50;
      ::poll(&room, 1, milliseconds);
      const ssize_t num = ::write(file_, text.data(), text.size());
      if (num < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (num > 0) text.remove_prefix(static_cast<std::size_t>(num));
    }
    return text.empty() && close();
  }

 private:
  bool open(const std::string& path) {
    file_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    return file_ >= 0;
  }
  bool close() {
    const int file = std::exchange(file_, -1);
    return file >= 0 && ::close(file) == 0;
  }

  int file_ = -1;
};

void TextFile::put_out(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << text_;
  file.close();
  check_written(static_cast<bool>(file));
}

void TextFile::check_written(bool whole) const {
  if (!whole) throw FileError(fmt::format("'{}' cannot be written; is the disk full?", path_));
}

void TextFile::put(const std::string& text) {
  if (target_ == Target::none) return;
  comm_->together([&] {
    if (comm_->rank() != 0) return;
    text_ = text;
    if (target_ == Target::staged_file) put_out(temporary_);
  });
}

void TextFile::open() {
  comm_->together([&] {
    if (comm_->rank() == 0 && is_stream() && !stream_) stream_ = std::make_shared<Stream>(path_);
  });
}

void TextFile::send() {
  open();
  comm_->together([&] {
    if (comm_->rank() != 0 || std::exchange(sent_, true)) return;
    if (stream_) check_written(stream_->write(text_));
    if (target_ != Target::standard_output) return;
    const bool whole = std::fwrite(text_.data(), 1, text_.size(), stdout) == text_.size();
    if (std::fflush(stdout) != 0 || !whole)
      throw FileError(fmt::format(
          "{} '{}': standard output cannot be written to; is the disk full?", option_, path_));
  });
}

void TextFile::commit() {
  send();
  if (files_) files_->commit();
}

std::optional<std::string> TextFile::name() const {
  const bool named = is_stream() || target_ == Target::staged_file;
  return named ? std::optional(path_) : std::nullopt;
}

}  // namespace zhalo::app
