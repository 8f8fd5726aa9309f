// The kernels are compiled with -fsanitize=thread, but not linked with ThreadSanitizer: what the
// compiler calls before each load and store is defined here.
#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "tests/device/include/emulated_lane.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/profile.hpp"
#include "tests/device/runtime/worker.hpp"

namespace zhalo::emulated::profile {
namespace {

constexpr std::uintptr_t sector_bytes = 32;

struct Access {
  std::uintptr_t instruction = 0;
  std::uintptr_t begin = 0;
  unsigned bytes = 0;
};

/// Of the lanes of this worker's warp since the last collective.
thread_local std::array<std::vector<Access>, warp_size> accesses;

/// One sector that one lane asked for, at the n-th time that it came to an instruction.
struct Touched {
  std::uintptr_t instruction = 0;
  unsigned time = 0;
  std::uintptr_t sector = 0;
  unsigned lane = 0;
  unsigned bytes = 0;

  auto key() const { return std::tuple(instruction, time, sector, lane); }
  bool is_same_request(const Touched& other) const {
    return instruction == other.instruction && time == other.time;
  }
};

using Found = std::map<std::pair<std::string, std::uintptr_t>, Instruction>;
std::mutex mutex;
Found found;

std::vector<Touched> take_touched() {
  std::vector<Touched> all;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    std::map<std::uintptr_t, unsigned> times;
    for (const Access& access : accesses[lane]) {
      const unsigned time = times[access.instruction]++;
      const std::uintptr_t last = (access.begin + access.bytes - 1) / sector_bytes;
      for (std::uintptr_t sector = access.begin / sector_bytes; sector <= last; ++sector)
        all.push_back({access.instruction, time, sector, lane, access.bytes});
    }
    accesses[lane].clear();
  }
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.key() < b.key(); });
  return all;
}

/// Adds [first, last), which is one request.
void add_request(Instruction& to, const Touched* first, const Touched* last) {
  std::vector<unsigned> lanes;
  to.requests += 1;
  for (const Touched* one = first; one != last; ++one) {
    to.sectors += one == first || one->sector != one[-1].sector ? 1 : 0;
    if (std::find(lanes.begin(), lanes.end(), one->lane) != lanes.end()) continue;
    lanes.push_back(one->lane);
    to.bytes += one->bytes;
  }
  to.lanes += static_cast<std::int64_t>(lanes.size());
}

void note(const void* address, unsigned bytes, const void* instruction) {
  if (!runs_lane() || device_of(address) < 0) return;
  accesses[threadIdx.x % warp_size].push_back({reinterpret_cast<std::uintptr_t>(instruction),
                                               reinterpret_cast<std::uintptr_t>(address), bytes});
}

}  // namespace

void end_step(const std::string& kernel) {
  const std::vector<Touched> all = take_touched();
  const std::lock_guard lock(mutex);
  for (const Touched* first = all.data(); first != all.data() + all.size();) {
    const Touched* last = first;
    while (last != all.data() + all.size() && last->is_same_request(*first)) ++last;
    Instruction& to = found[{kernel, first->instruction}];
    to.kernel = kernel;
    to.address = first->instruction;
    add_request(to, first, last);
    first = last;
  }
}

void clear() {
  const std::lock_guard lock(mutex);
  found.clear();
}

std::vector<Instruction> instructions() {
  const std::lock_guard lock(mutex);
  std::vector<Instruction> all;
  for (const auto& [key, one] : found) all.push_back(one);
  return all;
}

}  // namespace zhalo::emulated::profile

// NOLINTBEGIN
#define ZHALO_NOTE(name, bytes)                                                  \
  void __tsan_##name(void* address) {                                            \
    zhalo::emulated::profile::note(address, bytes, __builtin_return_address(0)); \
  }
#define ZHALO_NOTE_SIZE(bytes)              \
  ZHALO_NOTE(read##bytes, bytes)            \
  ZHALO_NOTE(write##bytes, bytes)           \
  ZHALO_NOTE(unaligned_read##bytes, bytes)  \
  ZHALO_NOTE(unaligned_write##bytes, bytes) \
  ZHALO_NOTE(volatile_read##bytes, bytes)   \
  ZHALO_NOTE(volatile_write##bytes, bytes)
#define ZHALO_NOTE_ATOMIC(bits)                                                            \
  using Bits##bits = std::uint##bits##_t;                                                  \
  Bits##bits __tsan_atomic##bits##_load(const Bits##bits* at, int) {                       \
    zhalo::emulated::profile::note(at, bits / 8, __builtin_return_address(0));             \
    return __atomic_load_n(at, __ATOMIC_RELAXED);                                          \
  }                                                                                        \
  void __tsan_atomic##bits##_store(Bits##bits* at, Bits##bits value, int) {                \
    zhalo::emulated::profile::note(at, bits / 8, __builtin_return_address(0));             \
    __atomic_store_n(at, value, __ATOMIC_RELEASE);                                         \
  }                                                                                        \
  Bits##bits __tsan_atomic##bits##_fetch_add(Bits##bits* at, Bits##bits value, int) {      \
    zhalo::emulated::profile::note(at, bits / 8, __builtin_return_address(0));             \
    return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL);                                \
  }                                                                                        \
  bool __tsan_atomic##bits##_compare_exchange_strong(Bits##bits* at, Bits##bits* expected, \
                                                     Bits##bits value, int, int) {         \
    zhalo::emulated::profile::note(at, bits / 8, __builtin_return_address(0));             \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_ACQ_REL,       \
                                       __ATOMIC_ACQUIRE);                                  \
  }                                                                                        \
  bool __tsan_atomic##bits##_compare_exchange_weak(Bits##bits* at, Bits##bits* expected,   \
                                                   Bits##bits value, int, int) {           \
    zhalo::emulated::profile::note(at, bits / 8, __builtin_return_address(0));             \
    return __atomic_compare_exchange_n(at, expected, value, true, __ATOMIC_ACQ_REL,        \
                                       __ATOMIC_ACQUIRE);                                  \
  }
extern "C" {
ZHALO_NOTE_SIZE(1)
ZHALO_NOTE_SIZE(2)
ZHALO_NOTE_SIZE(4)
ZHALO_NOTE_SIZE(8)
ZHALO_NOTE_SIZE(16)
void __tsan_read_range(void* address, unsigned long bytes) {
  zhalo::emulated::profile::note(address, static_cast<unsigned>(bytes),
                                 __builtin_return_address(0));
}
void __tsan_write_range(void* address, unsigned long bytes) {
  zhalo::emulated::profile::note(address, static_cast<unsigned>(bytes),
                                 __builtin_return_address(0));
}
ZHALO_NOTE_ATOMIC(8)
ZHALO_NOTE_ATOMIC(16)
ZHALO_NOTE_ATOMIC(32)
ZHALO_NOTE_ATOMIC(64)
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
// NOLINTEND
