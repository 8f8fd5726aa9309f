#include "apps/report/text_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/cli/process.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::app {

namespace fs = std::filesystem;

namespace {

bool names_open_file(const std::string& path, int open_file) {
  struct stat named {};
  struct stat open {};
  if (::stat(path.c_str(), &named) != 0 || ::fstat(open_file, &open) != 0) return false;
  return named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

bool is_pipe(int open_file) {
  struct stat open {};
  return ::fstat(open_file, &open) == 0 && S_ISFIFO(open.st_mode);
}

}  // namespace

/// Also as /dev/stdout, which may be a regular file by another name.
bool is_standard_output(const std::string& path) {
  return path == "-" || names_open_file(path, STDOUT_FILENO);
}

namespace {

/// The number of the open file that the path names, such as 2 for /dev/stderr; -1 if it names none.
int open_file_of(const std::string& path) {
  if (names_open_file(path, STDERR_FILENO)) return STDERR_FILENO;
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int number = -1;
    const char* end = path.data() + path.size();
    if (path.starts_with(folder) &&
        std::from_chars(path.data() + folder.size(), end, number).ptr == end)
      return number;
  }
  return -1;
}

}  // namespace

bool is_open_already(const std::string& path) {
  return is_standard_output(path) || open_file_of(path) >= 0;
}

TextFile::Target TextFile::target_of(const std::string& path) {
  if (path.empty()) return Target::none;
  if (is_standard_output(path)) return Target::standard_output;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return Target::folder;
  const bool as_it_is =
      fs::exists(status) && (!fs::is_regular_file(status) || is_open_already(path));
  return as_it_is ? Target::file_as_it_is : Target::staged_file;
}

namespace {

bool are_same(const fs::path& a, const fs::path& b) {
  return (a / "").lexically_normal() == (b / "").lexically_normal();
}

/// A folder is not made for a file alone: its name may be a slip.
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

TextFile::TextFile(const Communicator& comm, const std::string& option, const std::string& path,
                   const std::string& output_folder)
    : comm_(&comm), option_(option), path_(path) {
  comm.together([&] {
    // Other machines may see other files at the same path: rank 0 decides.
    const Target mine = comm.rank() == 0 ? target_of(path) : Target::none;
    target_ = static_cast<Target>(comm.max(static_cast<Index>(mine)));
    if (target_ == Target::folder)
      throw FileError(fmt::format("{} '{}' is a folder: name a file", option, path));
    if (target_ != Target::staged_file) return;
    const std::string folder = fs::path(path).parent_path().string();
    const bool is_made = !output_folder.empty() && are_same(folder, output_folder);
    if (comm.rank() == 0 && !is_made) check_folder(option, path, folder);
    files_.emplace(comm, folder, io::StagedFiles::Writers::rank_zero);
    if (comm.rank() == 0) temporary_ = files_->stage(fs::path(path).filename().string());
  });
}

/// A pipe or a device. A pipe may have to wait for its reader: neither the opening nor the writing
/// blocks, so that all ranks wait together.
class Stream {
 public:
  /// `name` is for messages.
  Stream(const std::string& path, const std::string& name) : path_(path), name_(name) {}
  ~Stream() { close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// False as long as nobody reads the pipe; FileError.
  bool try_to_open() {
    std::error_code ignored;
    // Who else writes to an open file goes on behind what is written here.
    file_ = fs::is_regular_file(path_, ignored)
                ? ::fcntl(open_file_of(path_), F_DUPFD_CLOEXEC, 0)
                : ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (file_ >= 0) return true;
    if (errno != EINTR && !(errno == ENXIO && fs::is_fifo(path_, ignored))) fail();
    return false;
  }

  /// Writes what there is room for within a moment, and takes it off the text; FileError.
  void write_some(std::string_view& text) {
    pollfd room{file_, POLLOUT, 0};
    constexpr int milliseconds = 50;
    ::poll(&room, 1, milliseconds);
    const ssize_t num = ::write(file_, text.data(), text.size());
    if (num > 0) text.remove_prefix(static_cast<std::size_t>(num));
    if (num < 0 && errno != EAGAIN && errno != EINTR) fail();
  }

  /// FileError if what was written did not arrive.
  void finish() {
    if (!close()) fail();
  }

 private:
  bool close() {
    const int file = std::exchange(file_, -1);
    return file < 0 || ::close(file) == 0;
  }
  [[noreturn]] void fail() const {
    throw FileError(fmt::format("{} cannot be written to: {}", name_, std::strerror(errno)));
  }

  std::string path_;
  std::string name_;
  int file_ = -1;
};

namespace {

/// Looks again and again until `look` is true on all ranks. Signals end the wait; the limit of
/// waits for other ranks does not.
template <class Look>
void wait_on_all_ranks(const Communicator& comm, const Look& look) {
  bool done = false;
  while (!done) {
    comm.together([&] {
      check_interrupted();
      done = comm.min(Index{look()}) != 0;
      if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    });
  }
}

}  // namespace

void TextFile::put_out(const std::string& path) const {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text_;
  file.close();
  if (!file)
    throw FileError(fmt::format("'{}' cannot be written: {}", path_,
                                errno == 0 ? "is the disk full?" : std::strerror(errno)));
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
  wait_on_all_ranks(*comm_, [&] {
    if (comm_->rank() != 0 || stream_) return true;
    if (target_ == Target::standard_output) return open_output();
    if (!is_stream()) return true;
    auto stream = std::make_shared<Stream>(path_, fmt::format("'{}'", path_));
    const bool is_done = stream->try_to_open();
    if (is_done) stream_ = std::move(stream);
    return is_done;
  });
}

/// A pipe again, by a way that does not block. Where there is none, writing may block.
bool TextFile::open_output() {
  if (sent_ || !is_pipe(STDOUT_FILENO)) return true;
  std::fflush(stdout);
  auto output = std::make_shared<Stream>("/proc/self/fd/1",
                                         fmt::format("{} '{}': standard output", option_, path_));
  try {
    if (output->try_to_open()) stream_ = std::move(output);
  } catch (const FileError&) {  // no /proc
  }
  return true;
}

void TextFile::send() {
  open();
  std::string_view rest = stream_ && !sent_ ? std::string_view(text_) : std::string_view();
  wait_on_all_ranks(*comm_, [&] {
    if (!rest.empty()) stream_->write_some(rest);
    return rest.empty();
  });
  comm_->together([&] {
    if (comm_->rank() != 0 || std::exchange(sent_, true)) return;
    if (stream_) stream_->finish();
    if (target_ != Target::standard_output || stream_) return;
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
