/// Output files that appear whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "zhalo/comm/communicator.hpp"

namespace zhalo::io {

/// Files of all ranks that are written under temporary names beside their places and renamed together at the end. What is not
/// committed is removed by the destructor, with the directories that were made for it if they are empty; files that were there
/// before stay untouched until the commit.
class StagedFiles {
 public:
  /// Makes `directory` if it is missing and makes sure that every rank can write there. Collective; FileError.
  /// The communicator must outlive this object.
  StagedFiles(const Communicator& comm, std::string directory);
  ~StagedFiles();
  StagedFiles(StagedFiles&&) noexcept;
  StagedFiles& operator=(StagedFiles&&) = delete;
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  const Communicator& comm() const { return *comm_; }
  const std::string& directory() const { return directory_; }

  /// Makes a directory below. Collective.
  void make_directory(const std::string& name);

  /// The temporary path at which to write the file that shall become `directory()/name`. Not collective.
  std::string stage(const std::string& name);

  /// One file per rank, "PREFIX.RANK.hdf5": stages it. Files of the same prefix with a higher number, from an earlier run on
  /// more ranks, are removed at the commit. Not collective, but all ranks must call it.
  std::string stage_numbered(const std::string& prefix);

  /// Files "PREFIX.RANK.hdf5" of an earlier run are removed at the commit. Not collective, but all ranks must call it.
  void retire_numbered(const std::string& prefix) { retired_.push_back(prefix); }

  /// Brings all staged files of all ranks to the disk and to their names; returns this rank's final paths. Collective;
  /// FileError on every rank if it fails on one.
  std::vector<std::string> commit();

 private:
  struct Staged {
    std::string temporary;
    std::string final_path;
  };
  void make_directories_from_rank_zero(const std::string& path);
  void discard() noexcept;

  const Communicator* comm_ = nullptr;
  std::string directory_;
  std::vector<std::string> made_directories_;  // on rank 0
  std::vector<std::string> numbered_;
  std::vector<std::string> retired_;
  std::vector<Staged> staged_;
};

}  // namespace zhalo::io
