/// Output files that appear whole or not at all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zhalo/comm/communicator.hpp"

namespace zhalo::io {

/// Files of all ranks that are written under temporary names beside their places and renamed
/// together at the end. What is not committed is removed by the destructor, with the directories
/// that were made for it if they are empty; files that were there before stay untouched until the
/// commit. The files of one object are one result: old and new ones are never seen together, also
/// if the process or the machine stops during the commit.
class StagedFiles {
 public:
  /// Makes `directory` if it is missing and makes sure that every rank can write there. Collective;
  /// FileError. The communicator must outlive this object.
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

  /// A file that shows what others hold appears when they are there, and an earlier one goes before
  /// them.
  enum class Appears { in_any_order, last };

  /// The temporary path at which to write the file that shall become `directory()/name`. One rank
  /// stages a file; it is the same path on all. Not collective.
  std::string stage(const std::string& name, Appears when = Appears::in_any_order);

  /// The temporary path of a file that another rank stages, for a rank that writes to it too. Not
  /// collective.
  std::string join(const std::string& name);

  /// This run's files of a prefix are "PREFIX.0.hdf5" to "PREFIX.(num_files - 1).hdf5": those with
  /// other numbers, which an earlier run left, are removed at the commit. Stages nothing. Not
  /// collective, but all ranks must call it.
  void claim_numbered(const std::string& prefix, Index num_files);

  /// A file of an earlier run that is removed at the commit, before all others. Not collective, but
  /// all ranks must call it.
  void retire(const std::string& name) { retired_.push_back(name); }

  /// Final paths of the files that this rank staged. Not collective.
  std::vector<std::string> final_paths() const;

  /// Brings all staged files of all ranks to the disk, under their temporary names: what takes long
  /// and may fail, before anything is replaced. commit() does it, too. Collective; FileError on
  /// every rank if it fails on one.
  void sync();

  /// Brings all staged files of all ranks to the disk and to their names; returns the final paths
  /// of those that this rank staged. First all ranks move earlier files aside, to ".NAME.*.old",
  /// then all rename the new ones; whoever looks meanwhile finds some missing. A single file takes
  /// the place of the earlier one at once. Collective; FileError on every rank if it fails on one.
  /// Then the files that were there before are there again; where even that fails, and where ranks
  /// are lost (CommunicationError) or killed, they stay under the names ".NAME.*.old". Each rank
  /// removes its own earlier files: they are gone when all have returned. Of two runs that commit
  /// to one directory at the same time the second waits, up to a minute (CommitLocks): the files
  /// are those of one of them.
  std::vector<std::string> commit();

 private:
  struct Staged {
    std::string temporary;
    std::string final_path;
    Appears appears = Appears::in_any_order;
  };
  struct Numbered {
    std::string prefix;
    Index num_files = 0;
  };
  /// A file of an earlier run and the name under which it is kept until all ranks are done.
  struct Kept {
    std::string path;
    std::string kept_as;
  };
  friend class CommitLocks;
  void make_directories_from_rank_zero(const std::string& path);
  std::string hidden_beside(const std::string& path, const char* ending) const;
  std::vector<std::string> earlier_files(Appears which) const;
  void set_aside(Appears which);
  void put_in_place(Appears which);
  void replace_all();
  void remove_placed() noexcept;
  void bring_back() noexcept;
  void undo() noexcept;
  void discard() noexcept;

  const Communicator* comm_ = nullptr;
  std::string directory_;
  std::string
      run_;  // tells temporary names of this run from those of others; the same on all ranks
  std::vector<std::string> made_directories_;
  std::vector<Numbered> numbered_;
  std::vector<std::string> retired_;
  std::vector<Staged> staged_;
  std::vector<std::string> joined_;
  bool synced_ = false;
  bool is_locked_ = false;           // by CommitLocks of several
  std::vector<std::string> placed_;  // during the commit: what has its final name
  std::vector<Kept> kept_;           // during the commit
  bool single_ = false;              // during the commit: all ranks together have one file
};

/// While it lives, no other run replaces files in the directories of these StagedFiles: their
/// commits belong together. (Rank 0 holds ".zhalo-lock" in each directory by flock, and removes it
/// at the end. A file system without flock, such as Lustre mounted without it, does not let one
/// wait.)
class CommitLocks {
 public:
  /// Waits up to a minute for other runs. `while_waiting` is called on all ranks now and then, and
  /// may throw. Collective; FileError on all ranks. The files must be of one communicator, and must
  /// be committed while this object lives, or not at all.
  explicit CommitLocks(
      const std::vector<StagedFiles*>& files, const std::function<void()>& while_waiting = [] {});
  ~CommitLocks();
  CommitLocks(const CommitLocks&) = delete;
  CommitLocks& operator=(const CommitLocks&) = delete;

 private:
  class Lock;
  bool try_to_take(const std::vector<std::string>& directories);

  std::vector<std::unique_ptr<Lock>> locks_;
};

}  // namespace zhalo::io
