/// Of two runs that replace results in one directory at the same time one waits.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "zhalo/io/staged_files.hpp"

namespace zhalo::io {

/// While it lives, no other run replaces files in the directories of these StagedFiles: their
/// commits belong together. (By flock on
/// ".zhalo-lock" in each directory, which rank 0 has, and which is gone afterwards. File systems
/// without flock, such as Lustre mounted without it, do not let one wait.)
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
