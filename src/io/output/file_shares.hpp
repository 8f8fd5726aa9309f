/// Which rank writes which rows of which file, for any number of ranks and files.
#pragma once

#include <vector>

#include "zhalo/comm/communicator.hpp"

namespace zhalo::io {

struct WriteOptions;

/// P ranks share K numbered files. With K <= P file k is that of ranks [k P / K, (k + 1) P / K),
/// who write it one after the other; with K > P rank r alone writes files [r K / P, (r + 1) K / P).
/// So the files hold what the ranks have, in their order.
class FileShares {
 public:
  /// `num_files` 0: one per rank. InputError if it is negative or more than max_files and ranks.
  FileShares(Index num_files, int rank, int num_ranks);

  Index num_files() const { return num_files_; }
  /// Those that this rank writes to.
  Share files() const { return files_; }
  /// How many ranks write to this rank's file before it; those with 0 make the file.
  int turn() const { return turn_; }
  /// Turns until all ranks have written.
  int num_turns() const { return num_turns_; }

 private:
  Index num_files_ = 1;
  Share files_;
  int turn_ = 0;
  int num_turns_ = 1;
};

/// Of this rank. Collective; InputError also if the ranks have different options.
FileShares file_shares(const Communicator& comm, const WriteOptions& options);

/// Where items of one kind (groups, ids, particles of a type) lie in the files. The items of a rank
/// are split evenly over its files.
class Placement {
 public:
  /// `count`: items of this rank. Collective.
  Placement(const Communicator& comm, const FileShares& shares, Index count);

  Index total() const { return first_of_file_.back(); }
  /// The items that these files hold, counted over all ranks.
  Share in_files(Share files) const;
  /// The items that this rank writes to a file of its own, counted on this rank.
  Share mine(Index file) const;
  /// The row of the file at which mine(file) begins.
  Index row(Index file) const;

 private:
  Share files_;
  Index count_ = 0;
  Index before_ = 0;                  // items of lower ranks
  std::vector<Index> first_of_file_;  // one more than files
};

}  // namespace zhalo::io
