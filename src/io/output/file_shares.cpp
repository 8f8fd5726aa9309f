#include "src/io/output/file_shares.hpp"

#include <fmt/format.h>

#include <numeric>

#include "zhalo/core/contracts.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/catalogue_file.hpp"

namespace zhalo::io {

FileShares::FileShares(Index num_files, int rank, int num_ranks)
    : num_files_(num_files == 0 ? num_ranks : num_files) {
  if (num_files < 0 || num_files > max_files) {
    throw InputError(
        fmt::format("a catalogue cannot have {} files; ask for 1 to {}, beyond which file systems "
                    "and readers give up, "
                    "or for 0: one per rank",
                    num_files, max_files));
  }
  if (num_files_ > num_ranks) {
    files_.first = rank * num_files_ / num_ranks;
    files_.count = (rank + 1) * num_files_ / num_ranks - files_.first;
    return;
  }
  files_ = {((rank + 1) * num_files_ - 1) / num_ranks, 1};
  turn_ = rank - static_cast<int>(files_.first * num_ranks / num_files_);
  num_turns_ = static_cast<int>((num_ranks + num_files_ - 1) / num_files_);
}

FileShares file_shares(const Communicator& comm, const WriteOptions& options) {
  const Index fewest = comm.min(options.num_files), most = comm.max(options.num_files);
  const Index masters = comm.sum(options.master ? Index{1} : Index{0});
  if (fewest != most || (masters != 0 && masters != comm.size())) {
    throw InputError(
        fmt::format("the ranks ask for {} to {} files, {} of {} with a master; give the same "
                    "WriteOptions on all ranks",
                    fewest, most, masters, comm.size()));
  }
  return {options.num_files, comm.rank(), comm.size()};
}

Placement::Placement(const Communicator& comm, const FileShares& shares, Index count)
    : files_(shares.files()),
      count_(count),
      before_(comm.exclusive_sum(count)),
      first_of_file_(static_cast<std::size_t>(shares.num_files()) + 1) {
  for (Index file = files_.first; file < files_.first + files_.count; ++file)
    first_of_file_[static_cast<std::size_t>(file) + 1] = mine(file).count;
  comm.sum_in_place(first_of_file_);
  std::partial_sum(first_of_file_.begin(), first_of_file_.end(), first_of_file_.begin());
}

Share Placement::in_files(Share files) const {
  const Index first = first_of_file_.at(static_cast<std::size_t>(files.first));
  return {first, first_of_file_.at(static_cast<std::size_t>(files.first + files.count)) - first};
}

Share Placement::mine(Index file) const {
  return share_of(count_, static_cast<int>(file - files_.first), static_cast<int>(files_.count));
}

Index Placement::row(Index file) const {
  return before_ + mine(file).first - first_of_file_.at(static_cast<std::size_t>(file));
}

}  // namespace zhalo::io
