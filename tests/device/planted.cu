// Faults of each kind that an emulated device is to find, and the same without the fault.
//
//   planted CASE    prints what it computed, if it comes so far
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/common/arithmetic.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/lanes/warp_lanes.cuh"
#include "kernels/memory.hpp"
#include "zhalo/core/buffer.hpp"

namespace {

using namespace zhalo;
using kernels::for_each;
using kernels::for_each_with_lanes;
using Lanes = kernels::WarpLanes<float>;

constexpr Index warp = 32;

Cuda device(int number = 0) { return std::get<Cuda>(cuda_exec(number)); }

/// The values of the kernels' results, added up: equal for every order of lanes and blocks.
void print_sum(const Cuda& exec, const Buffer<float>& values) {
  double sum = 0;
  for (const float value : to_host(Exec(exec), values)) sum += static_cast<double>(value);
  std::printf("sum %.1f\n", sum);
}

Buffer<float> numbers(const Cuda& exec, Index num) {
  std::vector<float> values;
  for (Index i = 0; i < num; ++i) values.push_back(static_cast<float>(i % 97));
  return to_exec(Exec(exec), Span<const float>(values), "test");
}

struct CopyFrom {
  const float* from;
  float* to;
  Index shift;

  __device__ void operator()(Index i) const { to[i] = from[i + shift]; }
};

struct WriteTo {
  float* to;
  Index shift;

  __device__ void operator()(Index i) const { to[i + shift] = 1; }
};

/// Blocks of memory of their own, of exactly so many floats.
class Block {
 public:
  explicit Block(Index num) {
    void* block = nullptr;
    ZHALO_CUDA_TRY(cudaMalloc(&block, static_cast<std::size_t>(num) * sizeof(float)));
    data_ = static_cast<float*>(block);
  }
  ~Block() { free(); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  float* data() const { return data_; }
  void free() {
    static_cast<void>(cudaFree(data_));
    data_ = nullptr;
  }

 private:
  float* data_;
};

// ---------------------------------------------------------------- warps

/// Each lane writes its number, and reads that of the lane opposite.
template <bool synced>
struct Mirror {
  struct Scratch {
    float at[warp];
  };
  float* to;

  __device__ void operator()(const Lanes& g, Index item, Scratch& s) const {
    const auto lane = static_cast<Index>(threadIdx.x) % warp;
    s.at[lane] = static_cast<float>(item + lane);
    if constexpr (synced) g.sync();
    to[item * warp + lane] = s.at[warp - 1 - lane];
  }
};

template <bool synced>
void mirror() {
  const Cuda exec = device();
  constexpr Index num = 40;
  Buffer<float> to(exec, num * warp, "test");
  for_each_with_lanes(exec, num, Mirror<synced>{to.data()}, Lanes{});
  print_sum(exec, to);
}

/// A collective that only half of the lanes reach.
struct Branch {
  struct Scratch {};
  float* to;

  __device__ void operator()(const Lanes& g, Index item, Scratch&) const {
    const auto lane = static_cast<Index>(threadIdx.x) % warp;
    if (lane < warp / 2) to[item] = g.any(lane == 3) ? 1.0F : 0.0F;
  }
};

void branch() {
  const Cuda exec = device();
  Buffer<float> to(exec, 1, "test");
  for_each_with_lanes(exec, 1, Branch{to.data()}, Lanes{});
  print_sum(exec, to);
}

/// Reads shared memory that nobody has written in this block.
struct ReadShared {
  struct Scratch {
    float at[warp];
  };
  float* to;

  __device__ void operator()(const Lanes& g, Index item, Scratch& s) const {
    const auto lane = static_cast<Index>(threadIdx.x) % warp;
    to[item * warp + lane] = s.at[lane];
    g.sync();
    s.at[lane] = 1;
  }
};

void stale_shared_memory() {
  const Cuda exec = device();
  constexpr Index num = 40;
  Buffer<float> to(exec, num * warp, "test");
  for_each_with_lanes(exec, num, ReadShared{to.data()}, Lanes{});
  print_sum(exec, to);
}

struct OverrunShared {
  struct Scratch {
    float at[warp];
  };
  float* to;

  __device__ void operator()(const Lanes&, Index item, Scratch& s) const {
    float* const behind = s.at + 4 * sizeof s.at;  // of all warps of a block
    behind[threadIdx.x] = static_cast<float>(item);
  }
};

void overrun_shared() {
  const Cuda exec = device();
  Buffer<float> to(exec, 1, "test");
  for_each_with_lanes(exec, 1, OverrunShared{to.data()}, Lanes{});
  print_sum(exec, to);
}

// ---------------------------------------------------------------- blocks

struct AddToOne {
  float* to;

  __device__ void operator()(Index) const { *to += 1; }
};

void block_race() {
  const Cuda exec = device();
  Buffer<float> to = numbers(exec, 1);
  for_each(exec, 100, AddToOne{to.data()});
  print_sum(exec, to);
}

/// The same threads of different blocks: one lane of the emulation may run both.
struct AddToThread {
  float* to;

  __device__ void operator()(Index) const { to[threadIdx.x] += 1; }
};

void race_of_equal_threads() {
  const Cuda exec = device();
  Buffer<float> to = numbers(exec, warp);
  for_each(exec, 8 * warp, AddToThread{to.data()});
  print_sum(exec, to);
}

struct AddAtomically {
  Index* to;

  __device__ void operator()(Index i) const {
    if (kernels::atomic_load(*to) >= 0) kernels::atomic_add(*to, i);
  }
};

void atomics() {
  const Cuda exec = device();
  const Index zero = 0;
  Buffer<Index> to = to_exec(Exec(exec), Span<const Index>(&zero, 1), "test");
  for_each(exec, 1000, AddAtomically{to.data()});
  std::printf("sum %.1f\n", static_cast<double>(to_host(Exec(exec), to).at(0)));
}

// ---------------------------------------------------------------- memory

void copy(Index shift) {
  const Cuda exec = device();
  const Block from(1000);
  const Block to(1000);
  for_each(exec, 1000, WriteTo{from.data(), 0});
  for_each(exec, 1000, CopyFrom{from.data(), to.data(), shift});
  kernels::synchronise(exec);
  std::printf("copied\n");
}

void in_bounds() { copy(0); }
void read_behind() { copy(500); }
void read_before() { copy(-1); }

void write_behind() {
  const Cuda exec = device();
  const Block to(1000);
  for_each(exec, 1, WriteTo{to.data(), 1000});
  kernels::synchronise(exec);
  std::printf("written\n");
}

void use_after_free() {
  const Cuda exec = device();
  Block to(1000);
  float* const data = to.data();
  to.free();
  for_each(exec, 1, WriteTo{data, 0});
  kernels::synchronise(exec);
  std::printf("written\n");
}

void free_twice() {
  const Block block(10);
  static_cast<void>(cudaFree(block.data()));
}

void leak() {
  static const Block& lost = *new Block(1000);
  static_cast<void>(lost);
  std::printf("done\n");
}

void host_access() {
  const Block block(1000);
  const volatile float* const data = block.data();
  std::printf("read %.1f\n", static_cast<double>(data[3]));
}

void host_pointer() {
  const Cuda exec = device();
  std::vector<float> values(1000);
  for_each(exec, 1000, WriteTo{values.data(), 0});
  std::printf("launched\n");
}

void wrong_device() {
  const Block block(1000);  // of device 0
  const Cuda other = device(1);
  for_each(other, 1000, WriteTo{block.data(), 0});
  kernels::synchronise(other);
  std::printf("written\n");
}

void copy_on_wrong_device() {
  const Block block(1000);
  float value = 0;
  const kernels::DeviceScope scope(1);
  ZHALO_CUDA_TRY(cudaMemcpyAsync(block.data(), &value, sizeof value, cudaMemcpyDefault, nullptr));
  std::printf("queued\n");
}

void each_device() {
  for (const int number : {1, 0}) {
    const Cuda exec = device(number);
    Buffer<float> to(exec, 100, "test");
    for_each(exec, 100, WriteTo{to.data(), 0});
    print_sum(exec, to);
  }
}

/// Behind the padding of one Buffer, which another one may follow.
void overrun_buffer() {
  const Cuda exec = device();
  { const Buffer<float> room(exec, 10000, "test"); }
  Buffer<float> first(exec, 1000, "test");
  for_each(exec, 1, WriteTo{first.data(), 1000 + Buffer<float>::padding});
  kernels::synchronise(exec);
  std::printf("written\n");
}

// ---------------------------------------------------------------- streams and errors

/// Page-locked memory that changes between a copy's call and the wait.
void change_before_wait() {
  const Block block(1);
  void* pinned = nullptr;
  ZHALO_CUDA_TRY(cudaMallocHost(&pinned, sizeof(float)));
  auto* const value = static_cast<float*>(pinned);
  *value = 1;
  ZHALO_CUDA_TRY(cudaMemcpyAsync(block.data(), value, sizeof(float), cudaMemcpyDefault, nullptr));
  *value = 2;
  float found = 0;
  ZHALO_CUDA_TRY(cudaMemcpyAsync(&found, block.data(), sizeof found, cudaMemcpyDefault, nullptr));
  ZHALO_CUDA_TRY(cudaFreeHost(pinned));
  std::printf("found %.1f\n", static_cast<double>(found));
}

void drop_error() {
  const Cuda exec = device();
  Buffer<float> to(exec, 100, "test");
  for_each(exec, 100, WriteTo{to.data(), 0});
  kernels::wait(exec);
  std::printf("waited\n");
}

void throw_error() {
  const Cuda exec = device();
  try {
    Buffer<float> to(exec, 100, "test");
    for_each(exec, 100, WriteTo{to.data(), 0});
    print_sum(exec, to);
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
  }
}

struct BreakContract {
  Span<float> to;

  __device__ void operator()(Index i) const { to[i] = 1; }
};

void break_contract() {
  const Cuda exec = device();
  Buffer<float> to(exec, 99, "test");
  for_each(exec, 100, BreakContract{to.span()});
  kernels::synchronise(exec);
  std::printf("written\n");
}

struct Case {
  const char* name;
  void (*run)();
};

constexpr std::array cases = {Case{"synced", mirror<true>},
                              Case{"missing_sync", mirror<false>},
                              Case{"branch", branch},
                              Case{"stale_shared_memory", stale_shared_memory},
                              Case{"overrun_shared", overrun_shared},
                              Case{"block_race", block_race},
                              Case{"race_of_equal_threads", race_of_equal_threads},
                              Case{"atomics", atomics},
                              Case{"in_bounds", in_bounds},
                              Case{"read_behind", read_behind},
                              Case{"read_before", read_before},
                              Case{"write_behind", write_behind},
                              Case{"use_after_free", use_after_free},
                              Case{"free_twice", free_twice},
                              Case{"leak", leak},
                              Case{"host_access", host_access},
                              Case{"host_pointer", host_pointer},
                              Case{"wrong_device", wrong_device},
                              Case{"copy_on_wrong_device", copy_on_wrong_device},
                              Case{"each_device", each_device},
                              Case{"change_before_wait", change_before_wait},
                              Case{"drop_error", drop_error},
                              Case{"throw_error", throw_error},
                              Case{"overrun_buffer", overrun_buffer},
                              Case{"break_contract", break_contract}};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& each : cases) {
    if (argc != 2 || std::strcmp(argv[1], each.name) != 0) continue;
    each.run();
    return 0;
  }
  std::printf("usage: planted CASE\n");
  return 2;
}
