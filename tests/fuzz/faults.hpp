/// Whose fault it was that a child ended.
#pragma once

#include <string>

#include "tests/fuzz/children.hpp"

namespace zhalo::fuzz {

enum class Cause {
  zhalo,   ///< a finding
  hdf5,    ///< the library's own: calls of HDF5 alone end in the same way
  memory,  ///< more was asked for than the sanitizer gives, which is an error in a command
};

struct Fault {
  Cause cause = Cause::zhalo;
  std::string kind;  ///< "SEGV in H5O_attr_decode below H5Aopen_by_name"
};

/// Tries the mutant with HDF5 alone where the report says that HDF5 failed.
Fault judge(Children& children, const Ending& ending);

/// What a sanitizer's report says about where the fault is.
struct FaultLocation {
  std::string what;      ///< "heap-buffer-overflow"
  std::string function;  ///< the innermost of HDF5's, if it happened there
  std::string call;      ///< of HDF5, by which it was entered
  bool in_hdf5 = false;
};
FaultLocation location_of(const std::string& report);

}  // namespace zhalo::fuzz
