/// HDF5 files that can be closed whatever happens.
#pragma once

#include <memory>

#include "src/io/hdf5/handle.hpp"

namespace zhalo::io::hdf5 {

/// A driver (H5Pset_driver) of files that can be closed whatever happens. They are as HDF5's own
/// POSIX driver would write them, but not locked meanwhile. It has to live until they are closed:
/// HDF5 itself would let go of it a moment too early.
Handle closable_driver();

/// Shared by a file of that driver and its user, who must look at it after each call: HDF5 itself
/// is told that everything went well. It cannot let go of a file before it has written what it
/// still holds: where that fails it tries again when the program ends, and crashes.
struct FileState {
  bool is_watched =
      false;        ///< by somebody who called state_of; before that HDF5 is told of failures
  int failure = 0;  ///< errno of the first failure
  bool abandoned = false;  ///< what is written goes nowhere; so since the first failure, or before
};
std::shared_ptr<FileState> state_of(hid_t file);

/// Of the open file; -1: there is none.
int descriptor_of(hid_t file);

}  // namespace zhalo::io::hdf5
