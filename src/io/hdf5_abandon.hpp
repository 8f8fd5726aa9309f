/// HDF5 files of which one can let go at any time.
#pragma once

#include "src/io/hdf5_handle.hpp"

namespace zhalo::io::hdf5 {

/// A driver (H5Pset_driver) whose files can be abandoned; to everybody else they are as HDF5's own POSIX driver would write them. It has
/// to live until they are closed: HDF5 itself would let go of it a moment too early.
Handle abandonable_driver();

/// From now on what HDF5 writes to this file, which is of such a driver, goes nowhere and succeeds, so that it can be closed. HDF5 cannot
/// let go of a file before it has written what it still holds: on a full disk it tries again when the program ends, and crashes.
void abandon(hid_t file);

/// Of the open file; -1: there is none.
int descriptor_of(hid_t file);

}  // namespace zhalo::io::hdf5
