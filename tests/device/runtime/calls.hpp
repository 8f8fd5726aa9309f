/// What programs ask of the devices: counted, and made to fail on demand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace zhalo::emulated {

enum class Event {
  // Calls of the runtime, the ones that can fail on demand first.
  malloc,
  copy,
  launch,
  synchronise,
  load,  ///< memory for the code of a kernel, at each launch and algorithm of CUB's
  plan,  ///< memory for a plan of cuFFT
  free,
  make,  ///< of a stream, an event or a plan of cuFFT
  // Inside kernels: of a whole warp, but for the atomics.
  ballot,
  any,
  shuffle,
  sync,
  atomic,
  // Bytes.
  bytes_to_host,
  transformed_bytes,  ///< that transforms read and write, each number once each way
  last = transformed_bytes
};
inline constexpr std::size_t num_events = static_cast<std::size_t>(Event::last) + 1;

using Counts = std::array<std::int64_t, num_events>;

/// Of the process so far, in the order of Event.
Counts counts();
void count(Event event, std::int64_t times = 1);

/// Counts the call; true if it is to fail, because of the environment or of fail_call.
bool count_and_fail(Event event);

/// Lets the n-th call from now on fail, once; n is 1 for the next. For tests.
void fail_call(Event event, std::int64_t n);
/// No call that is still to come fails.
void fail_no_call();

/// A call of the program's own has failed, and it has not asked for the error.
void leave_error();
bool is_error_left();

}  // namespace zhalo::emulated
