#include "zhalo/io/staged_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace fs = std::filesystem;

namespace {

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// Makes a directory and its missing parents; returns those that it made, outermost first.
std::vector<std::string> make_directories(const std::string& path) {
  std::vector<std::string> missing;
  std::error_code error;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path())
    missing.insert(missing.begin(), at.string());
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error)) {
    throw FileError(fmt::format("directory '{}' cannot be made: {}", path, error ? error.message() : "a file has that name"));
  }
  return missing;
}

/// Files and directories alike: until the disk has it.
void bring_to_disk(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool ok = file >= 0 && (::fsync(file) == 0 || errno == EINVAL);  // some file systems know no fsync of directories
  const int reason = errno;
  if (file >= 0) ::close(file);
  if (!ok) throw FileError(fmt::format("'{}' cannot be written: {}", path, std::strerror(reason)));
}

void check_writable(const std::string& directory, int rank) {
  const std::string probe = fmt::format("{}/.zhalo-probe.{}.{}", directory, ::getpid(), rank);
  const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw FileError(fmt::format("directory '{}' cannot be written to: {}", directory, std::strerror(errno)));
  ::close(file);
  ::unlink(probe.c_str());
}

}  // namespace

StagedFiles::StagedFiles(const Communicator& comm, std::string directory)
    : comm_(&comm), directory_(directory.empty() ? "." : std::move(directory)) {
  try {
    make_directories_from_rank_zero(directory_);
    comm_->together([&] { check_writable(directory_, comm_->rank()); });
  } catch (...) {
    discard();
    throw;
  }
}

StagedFiles::StagedFiles(StagedFiles&& other) noexcept
    : comm_(other.comm_),
      directory_(std::move(other.directory_)),
      made_directories_(std::exchange(other.made_directories_, {})),
      numbered_(std::exchange(other.numbered_, {})),
      retired_(std::exchange(other.retired_, {})),
      staged_(std::exchange(other.staged_, {})) {}

StagedFiles::~StagedFiles() { discard(); }

void StagedFiles::make_directories_from_rank_zero(const std::string& path) {
  std::string made;
  comm_->together([&] {
    if (comm_->rank() == 0) made = fmt::format("{}", fmt::join(make_directories(path), "\n"));
  });
  std::istringstream lines(comm_->broadcast(made));
  for (std::string line; std::getline(lines, line);) made_directories_.push_back(line);
}

void StagedFiles::make_directory(const std::string& name) {
  const std::string path = (fs::path(directory_) / name).string();
  make_directories_from_rank_zero(path);
  comm_->together([&] { check_writable(path, comm_->rank()); });
}

std::string StagedFiles::stage(const std::string& name) {
  const fs::path final_path = fs::path(directory_) / name;
  const std::string temporary = fmt::format(".{}.{}.part", final_path.filename().string(), ::getpid());
  staged_.push_back({(final_path.parent_path() / temporary).string(), final_path.string()});
  return staged_.back().temporary;
}

std::string StagedFiles::stage_numbered(const std::string& prefix) {
  numbered_.push_back(prefix);
  return stage(fmt::format("{}.{}.hdf5", prefix, comm_->rank()));
}

/// Every rank tries to remove the new directories; the last one finds them empty and succeeds.
void StagedFiles::discard() noexcept {
  std::error_code ignored;
  for (const auto& file : staged_) fs::remove(file.temporary, ignored);
  for (std::size_t i = made_directories_.size(); i-- > 0;) fs::remove(made_directories_[i], ignored);
  staged_.clear();
  made_directories_.clear();
}

namespace {

void rename_into_place(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw FileError(fmt::format("'{}' cannot be put in its place: {}", to, error.message()));
}

/// Files of an earlier run, from this number on: readers that look for the next number would find them.
void remove_leftovers(const std::string& prefix, int first) {
  std::error_code error;
  for (int number = first; fs::remove(fmt::format("{}.{}.hdf5", prefix, number), error); ++number) {
  }
}

}  // namespace

std::vector<std::string> StagedFiles::commit() {
  comm_->together([&] {
    for (const auto& file : staged_) bring_to_disk(file.temporary);
  });
  std::vector<std::string> placed;
  try {
    comm_->together([&] {
      for (const auto& file : staged_) {
        rename_into_place(file.temporary, file.final_path);
        placed.push_back(file.final_path);
      }
    });
  } catch (...) {
    std::error_code ignored;
    for (const auto& path : placed) fs::remove(path, ignored);
    throw;
  }
  staged_.clear();
  made_directories_.clear();
  if (comm_->rank() == 0) {
    for (const auto& prefix : numbered_) remove_leftovers((fs::path(directory_) / prefix).string(), comm_->size());
    for (const auto& prefix : retired_) remove_leftovers((fs::path(directory_) / prefix).string(), 0);
  }
  comm_->together([&] {
    for (const auto& path : placed) bring_to_disk(parent_of(path));
  });
  return placed;
}

}  // namespace zhalo::io
