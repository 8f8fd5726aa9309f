/// What the environment says about the emulated devices. It is read once, at the first call.
///
///   ZHALO_EMULATED_DEVICES=N    how many devices there are, 0 to 4 (1)
///   ZHALO_EMULATED_MEMORY=N     MiB of each of them (8192)
///   ZHALO_EMULATED_ORDER=WORD   in which order blocks run, and the lanes of a warp between two
///                               collectives: forward, reversed or random (forward)
///   ZHALO_EMULATED_SEED=N       of the random order (1)
///   ZHALO_EMULATED_STREAMS=WORD when queued work runs: deferred, when something waits for it, or
///                               immediate (deferred)
///   ZHALO_EMULATED_WORKERS=N    threads of the host that run blocks, 1 to 16 (2)
///   ZHALO_EMULATED_FAIL=LIST    calls that fail, as CALL:N,CALL:N...: the N-th malloc, copy,
///                               launch, synchronise, load or plan of the process
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zhalo::emulated {

inline constexpr int max_devices = 4;

enum class Order { forward, reversed, random };

struct Settings {
  int num_devices = 1;
  std::size_t bytes_per_device = std::size_t{8} << 30;
  Order order = Order::forward;
  std::uint64_t seed = 1;
  bool deferred = true;
  int num_workers = 2;
  std::string_view failing_calls;
};

const Settings& settings();

}  // namespace zhalo::emulated
