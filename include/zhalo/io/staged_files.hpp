/// Output files that appear complete or not at all, and how results are divided into files.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::io {

// How results are divided into files: catalogues, numbers for particles, fields, snapshots.

/// Largest number of files of each kind. Each file has datasets of its own, and each rank counts
/// the rows of all files.
constexpr Index max_files = 1000000;

/// How results are divided into files; the same on all ranks.
struct WriteOptions {
  /// Number of files of each kind, K, for any number of ranks, P; 0: one per rank. At most
  /// max_files. If there are fewer files than ranks, file k has the rows of ranks
  /// [k P / K, (k + 1) P / K), which write it one after the other. If there are more, each rank
  /// splits its rows evenly over its files.
  Index num_files = 0;
  /// Also writes a file without a number, which shows the numbered files as one (HDF5's virtual
  /// datasets).
  bool master = false;

  /// K on so many ranks.
  Index num_files_on(int num_ranks) const { return num_files > 0 ? num_files : num_ranks; }
};

// Files that appear complete or not at all.

/// Files of all ranks that are written under temporary names in their final directories, and
/// renamed together at the end: the commit. The destructor removes files that were not committed.
/// It also removes directories that were made for them, if these are empty. Earlier files stay
/// untouched until the commit. The files of one object are one result: old and new ones are never
/// seen together, even if the process or the machine stops during the commit.
class StagedFiles {
 public:
  /// The ranks that stage files. Others need not see the directory.
  enum class Writers { all_ranks, rank_zero };

  /// Makes `directory` if it is missing, and checks that every rank of `writers` can write there.
  /// Collective; FileError. The communicator must outlive this object.
  StagedFiles(const Communicator& comm, std::string directory,
              Writers writers = Writers::all_ranks);
  ~StagedFiles();
  StagedFiles(StagedFiles&&) noexcept = default;
  StagedFiles& operator=(StagedFiles&&) = delete;
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  const Communicator& comm() const { return *comm_; }
  const std::string& directory() const { return directory_; }

  /// Makes a directory below directory(). Collective; FileError.
  void make_directory(const std::string& name);

  /// Whether a file with this path is of an earlier run. Its number is 0 if it has none. Empty: it
  /// is.
  using IsOurs = std::function<bool(const std::string& path, Index number)>;

  /// When a file gets its name. `last` is for a file that shows what others hold: it appears after
  /// them, and an earlier one is removed before them.
  enum class Appears { in_any_order, last };

  /// Returns the temporary path at which to write the file that will become `directory()/name`, in
  /// a directory that is made again if another run has removed it. Exactly one rank stages a file.
  /// The path is the same on all ranks. Not collective; FileError.
  std::string stage(const std::string& name, Appears when = Appears::in_any_order);

  /// Returns the temporary path of a file that another rank stages, for a rank that also writes to
  /// it. Not collective.
  std::string join(const std::string& name);

  /// Declares that this run's files of a prefix are "PREFIX.0.hdf5" to
  /// "PREFIX.(num_files - 1).hdf5". Files of an earlier run with higher numbers are removed at the
  /// commit, if `is_ours` says of their path and number that they are such. Stages nothing. Not
  /// collective, but all ranks must call it.
  void claim_numbered(const std::string& prefix, Index num_files, IsOurs is_ours = {});

  /// Declares that a file of an earlier run is removed at the commit, before all others, if
  /// `is_ours` says so of its path. Not collective, but all ranks must call it.
  void retire(const std::string& name, IsOurs is_ours = {}) {
    retired_.push_back({name, std::move(is_ours)});
  }

  /// Runs `work`, in Communicator::together. If it throws, what it staged, joined, claimed and
  /// retired is forgotten, and its files are removed: a later commit knows nothing of it. All
  /// functions of zhalo that write to StagedFiles do so. Collective.
  void all_or_nothing(const std::function<void()>& work);

  /// Final paths of the files that this rank staged. Not collective.
  std::vector<std::string> final_paths() const;

  /// Flushes all staged files of all ranks to the disk, under their temporary names. This may take
  /// long and may fail, so it comes before anything is replaced. commit() does it, too. Collective;
  /// FileError on every rank if it fails on one.
  void sync();

  /// Flushes all staged files of all ranks to the disk and gives them their final names. Returns
  /// the final paths of those that this rank staged.
  ///
  /// First all ranks move earlier files aside, to ".NAME.*.old". Then all ranks rename the new
  /// files. Meanwhile a reader finds some files missing. If there is only a single file, and no
  /// numbered ones of an earlier run go, it replaces the earlier one at once. Each rank removes its
  /// own earlier files; all are gone when all ranks have returned.
  ///
  /// Collective; FileError on every rank if it fails on one. Then the earlier files are restored.
  /// They stay under the names ".NAME.*.old" if even that fails, or if ranks are lost
  /// (CommunicationError) or killed. If two runs commit to one directory at the same time, the
  /// second waits, up to a minute (CommitLocks). The files are then those of one of the two.
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
    IsOurs is_ours;
  };
  struct Retired {
    std::string name;
    IsOurs is_ours;
  };
  /// A file of an earlier run, and the name under which it is kept until all ranks are done.
  struct Kept {
    std::string path;
    std::string kept_as;
  };
  /// Of what this rank has noted.
  struct Counts {
    std::size_t made_directories = 0, numbered = 0, retired = 0, staged = 0, joined = 0;
  };
  friend class CommitLocks;
  void check_writable(const std::string& directory) const;
  void make_missing(const std::string& directory);
  void make_directories_from_rank_zero(const std::string& path);
  std::string hidden_beside(const std::string& path, const char* ending) const;
  std::vector<std::string> numbered_leftovers() const;
  std::vector<std::string> earlier_files(Appears which) const;
  void set_aside(Appears which);
  void put_in_place(Appears which);
  void replace_all();
  void remove_placed() noexcept;
  void restore() noexcept;
  void undo() noexcept;
  void discard_beyond(const Counts& kept) noexcept;

  const Communicator* comm_ = nullptr;
  std::string directory_;
  // Part of temporary names, different for each run and the same on all ranks.
  std::string run_;
  std::vector<std::string> made_directories_;
  std::vector<Numbered> numbered_;
  std::vector<Retired> retired_;
  std::vector<Staged> staged_;
  std::vector<std::string> joined_;
  bool synced_ = false;
  bool is_locked_ = false;           // by a CommitLocks that lives
  std::vector<std::string> placed_;  // during the commit: files in place
  std::vector<Kept> kept_;           // during the commit
  bool single_ = false;              // during the commit: one new file of all ranks, alone
};

/// While it lives, no other run replaces files in the directories of these StagedFiles. Use it to
/// commit several StagedFiles as one. (Rank 0 locks ".zhalo-lock" in each directory by flock, and
/// removes it at the end. On a file system without flock, such as Lustre mounted without it, runs
/// do not wait for each other.)
class CommitLocks {
 public:
  /// Waits up to a minute for other runs. Meanwhile `while_waiting` is called on all ranks now and
  /// then; it may throw. Collective; FileError on all ranks. The files must have one communicator.
  /// While this object lives they must stay where they are: not moved, not destroyed.
  explicit CommitLocks(
      const std::vector<StagedFiles*>& files, const std::function<void()>& while_waiting = [] {});
  ~CommitLocks();
  CommitLocks(const CommitLocks&) = delete;
  CommitLocks& operator=(const CommitLocks&) = delete;

 private:
  class Lock;
  bool try_to_take(const std::vector<std::string>& directories);

  std::vector<StagedFiles*> files_;
  std::vector<std::unique_ptr<Lock>> locks_;
};

}  // namespace zhalo::io
