/// What the sanitizers offer, where the program is built with them.
#pragma once

#include <cstddef>
#include <string>

namespace zhalo::fuzz {

/// Exit statuses of a child.
enum class Status {
  good = 0,
  finding = 85,    ///< its words are in Shared::words
  sanitizer = 86,  ///< a report is on standard error
  hang = 87,
  leak = 88,
  own_fault = 89  ///< the fuzzer's
};

/// Memory that nothing points to, apart from HDF5's own; false also where there is no sanitizer.
/// Reports go to standard error.
bool has_leaks();

/// Of the heap; 0 where there is no sanitizer.
std::size_t bytes_in_use();

/// From now on so many seconds of processor time, or twelve times as many on the clock, end the
/// process with Status::hang and the stack on standard error; 0: no limit.
void limit_seconds(unsigned seconds);

/// For an environment in which this program prints names instead of addresses in its reports.
std::string with_symbols(const char* options);

}  // namespace zhalo::fuzz
