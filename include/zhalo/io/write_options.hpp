/// How results are divided into files: catalogues, numbers for particles, fields, snapshots.
#pragma once

#include "zhalo/core/types.hpp"

namespace zhalo::io {

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
};

}  // namespace zhalo::io
