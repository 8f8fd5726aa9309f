#include "zhalo/core/exec.hpp"

#include <fmt/format.h>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

#include "kernels/memory.hpp"
#include "kernels/on.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/for_each.hpp"

namespace zhalo {

DeviceReport query_devices() { return kernels::query_devices(); }

int available_threads() {
  if (const auto cores = kernels::cores_of_process()) return CPU_COUNT(&*cores);
  const unsigned threads = std::thread::hardware_concurrency();
  return threads == 0 ? 1 : static_cast<int>(threads);
}

int threads_of_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return 0;
  constexpr const char* blank = " \t";
  text += std::strspn(text, blank);
  int threads = 0;
  const auto [number_end, error] = std::from_chars(text, text + std::strlen(text), threads);
  const char* const end = number_end + std::strspn(number_end, blank);
  const bool whole = *end == '\0' || *end == ',';
  return error == std::errc() && whole && threads > 0 ? threads : 0;
}

Exec host_exec(int threads) {
  if (threads < 0)
    throw InputError(
        fmt::format("number of threads is {} (must be 0, for all, or positive)", threads));
  if (threads == 0) threads = threads_of_environment();
  constexpr int max_threads = 4096;
  if (threads > max_threads)
    throw InputError(
        fmt::format("number of threads is {} (must be at most {})", threads, max_threads));
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

// Exceptions where none can pass (zhalo/core/error.hpp).

std::string CaughtError::message() const {
  if (!is_bad_alloc) return text;
  return fmt::format("{}{}; use more ranks or a machine with more memory", text,
                     describe_memory_limit());
}

// The exception is thrown again, not copied: its text outlives these clauses.
CaughtError caught_error() noexcept {
  try {
    throw;
  } catch (const InputError& error) {
    return {ErrorKind::input, error.what()};
  } catch (const FileError& error) {
    return {ErrorKind::file, error.what()};
  } catch (const OutOfMemory& error) {
    return {ErrorKind::memory, error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::memory, "out of host memory in a small allocation", true};
  } catch (const DeviceError& error) {
    return {ErrorKind::device, error.what()};
  } catch (const CommunicationError& error) {
    return {ErrorKind::communication, error.what()};
  } catch (const Interrupted& error) {
    return {ErrorKind::interrupted, error.what()};
  } catch (const ContractViolation& error) {
    return {ErrorKind::contract, error.what()};
  } catch (const std::exception& error) {
    return {ErrorKind::other, error.what()};
  } catch (...) {
    return {ErrorKind::other, "unknown exception"};
  }
}

}  // namespace zhalo
