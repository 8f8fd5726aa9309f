/// One HDF5 file that several ranks write at once.
#pragma once

#include <string>
#include <vector>

#include "src/io/hdf5/output.hpp"

namespace zhalo::io::hdf5 {

/// Whether this build can: with parallel HDF5 (ZHALO_PARALLEL_HDF5).
bool can_write_at_once();

struct NamedFile {
  std::string path;
  std::string shown;  ///< for messages
};

/// Rows of a dataset, and the row at which they begin.
struct PlacedRows {
  std::string dataset;
  Index first = 0;
  DatasetView cells;
};

/// MPI-IO counts in ints: no call writes more.
constexpr Index max_bytes_at_once = Index{64} << 20;

/// Writes rows of all `ranks` to a file that exists with all its datasets
/// (OutputFile::make_dataset), by MPI-IO, at most `max_bytes` in a call. Collective, also for those
/// without rows; FileError on all if a rank cannot open or write the file. While the file is opened
/// and closed ranks wait for one that is lost without limit.
void write_at_once(const Communicator& ranks, const NamedFile& file,
                   const std::vector<PlacedRows>& rows, Index max_bytes = max_bytes_at_once);

}  // namespace zhalo::io::hdf5
