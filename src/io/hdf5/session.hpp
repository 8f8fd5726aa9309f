/// Calls of HDF5 by several threads.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>

#include "zhalo/core/types.hpp"

namespace zhalo::io::hdf5 {

/// While it lives this thread is the only one that uses HDF5, which may be built for one thread at
/// a time, and HDF5 prints nothing. May be nested. Nobody may wait meanwhile for another rank that
/// can be a thread of this process.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  /// Of the process, as HDF5 is.
  struct Turn {
    std::recursive_mutex mutex;
    int depth = 0;
  };
  static Turn& turn();

  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// HDF5's names of types are calls.
hid_t native_type(double);
hid_t native_type(float);
hid_t native_type(Index);
hid_t native_type(std::int32_t);
hid_t native_type(std::uint64_t);

}  // namespace zhalo::io::hdf5
