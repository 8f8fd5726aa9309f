#include "zhalo/core/exec.hpp"

#include <fmt/format.h>
#include <thread>
#include <vector>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "kernels/threads.hpp"
#include "src/core/cores.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/for_each.hpp"

namespace zhalo {

DeviceReport query_devices() { return kernels::query_devices(); }

std::optional<cpu_set_t> cores_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const std::vector<int> bound = kernels::cores_of_bound_threads();
  for (const int core : bound) {
    if (core < 0 || core >= CPU_SETSIZE) return std::nullopt;
    CPU_SET(static_cast<std::size_t>(core), &set);
  }
  if (bound.empty() && sched_getaffinity(0, sizeof set, &set) != 0) return std::nullopt;
  return set;
}

int available_threads() {
  if (const auto cores = cores_of_process()) return CPU_COUNT(&*cores);
  const unsigned threads = std::thread::hardware_concurrency();
  return threads == 0 ? 1 : static_cast<int>(threads);
}

Exec host_exec(int threads) {
  if (threads < 0)
    throw InputError(
        fmt::format("number of threads is {} (must be 0, for all, or positive)", threads));
  return Host{threads == 0 ? available_threads() : threads, std::make_shared<MemoryPool>()};
}

Exec cuda_exec(int device, CUstream_st* stream) {
  const DeviceReport report = query_devices();
  if (report.num_devices == 0)
    throw DeviceError(fmt::format("no CUDA device can be used: {}", report.reason));
  if (device < 0 || device >= report.num_devices) {
    throw DeviceError(fmt::format("CUDA device {} does not exist (there are {}, counted from 0)",
                                  device, report.num_devices));
  }
  kernels::select_device(device);
  return Cuda{device, stream, std::make_shared<MemoryPool>(kernels::device_memory(device))};
}

std::string describe(const Exec& exec) {
  if (const auto* host = std::get_if<Host>(&exec)) {
    const int threads = host->threads > 0 ? host->threads : available_threads();
    return fmt::format("host, {} thread{}, {}", threads, threads == 1 ? "" : "s",
                       kernels::simd_target());
  }
  const int device = std::get<Cuda>(exec).device;
  return fmt::format("cuda device {}, {}", device, kernels::device_name(device));
}

void wait(const Exec& exec) noexcept {
  if (const auto* cuda = std::get_if<Cuda>(&exec)) kernels::wait(*cuda);
}

const std::shared_ptr<MemoryPool>& memory(const Exec& exec) {
  const auto& pool =
      kernels::on(exec, [](const auto& e) -> const std::shared_ptr<MemoryPool>& { return e.pool; });
  if (pool == nullptr)
    throw InputError("an Exec has no memory pool; make it with host_exec() or cuda_exec()");
  return pool;
}

void run_blocks(const Host& exec, Index num, Index block, const RangeFunction& function) {
  kernels::run_blocks(exec, num, block, function);
}

std::shared_ptr<const void> use_device(const Exec& exec) {
  return std::make_shared<const kernels::DeviceInUse>(exec);
}

}  // namespace zhalo
