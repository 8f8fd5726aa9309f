/// Work that was queued on the streams of the devices, in order. Where streams are deferred, which
/// is what they usually are, nothing runs before something waits for it: what a program does
/// between a launch and the wait must not matter.
#pragma once

#include <functional>
#include <string>

struct CUstream_st {
  int device = 0;
};

namespace zhalo::emulated {

struct Operation {
  std::string name;  ///< such as "kernel (long, Fill)": errors name it
  std::function<void()> run;
  /// Instead of `run`, of work that waits for others: does what can be done now, and returns
  /// whether that was all.
  std::function<bool()> advance{};
};

/// Queues work for the device; runs it at once where streams are immediate.
void enqueue(int device, CUstream_st* stream, Operation operation);
/// Runs what is queued on one stream as far as it does not wait for others; returns whether that
/// was all.
bool advance(int device, CUstream_st* stream);
/// Runs what is queued on one stream, or on all streams of a device, to its end.
void finish(int device, CUstream_st* stream);
void finish_device(int device);
/// Whether nothing is queued on any stream of a device.
bool is_idle(int device);
/// Forgets what is queued, as a device does that has failed.
void abandon(int device, CUstream_st* stream);

}  // namespace zhalo::emulated
