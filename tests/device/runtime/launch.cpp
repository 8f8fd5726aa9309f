// Kernels and algorithms: what they are called, whether their arguments can be right.
#include <emulated_launch.hpp>

#include <sys/mman.h>
#include <emulated_lane.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/runtime/devices.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/streams.hpp"
#include "tests/device/runtime/worker.hpp"

namespace zhalo::emulated {
namespace {

constexpr std::uintptr_t page = 4096;
constexpr unsigned max_threads_per_block = 1024;

/// "... [with Parameters = {long int, Fill}; std::string_view = ...]" of GCC and
/// "... [Parameters = <long, Fill>]" of Clang, as "(long int, Fill)".
std::string short_name(std::string_view text) {
  constexpr std::string_view mark = "Parameters = ";
  const std::size_t begin = text.find(mark);
  if (begin == std::string_view::npos) return std::string(text);
  text.remove_prefix(begin + mark.size() + 1);
  const std::size_t more = text.find("; std::string_view");
  text = text.substr(0, (more == std::string_view::npos ? text.size() - 1 : more) - 1);
  return "(" + std::string(text) + ")";
}

/// Whether this can be an address of the host: small numbers cannot, nor what nothing lies at.
bool is_host_address(std::uintptr_t word) {
  constexpr std::uintptr_t lowest = std::uintptr_t{1} << 32;
  constexpr std::uintptr_t behind = std::uintptr_t{1} << 47;
  if (word < lowest || word >= behind) return false;
  return msync(reinterpret_cast<void*>(word / page * page), 1, MS_ASYNC) == 0;
}

/// Whether half of the word is a small number: then the other half may be padding, with whatever
/// lay there before. Addresses hardly ever look like this.
bool is_padded_number(std::uintptr_t word) {
  constexpr std::uintptr_t low_half = 0xffffffff;
  constexpr std::uintptr_t small = 4096;
  return (word & low_half) < small;
}

/// A word of an argument: a number, a pointer to memory of this device, or a mistake.
void check_word(std::uintptr_t word, const std::string& where) {
  if (is_padded_number(word)) return;
  const auto* address = reinterpret_cast<const void*>(word);
  const int device = device_of(address);
  if (device == current_device() || is_pinned(address)) return;
  if (device >= 0)
    stop(where + " is a pointer to memory of device " + std::to_string(device) + " while device " +
         std::to_string(current_device()) + " is current");
  if (is_host_address(word)) stop(where + " is a pointer to memory of the host");
}

void check_arguments(const std::vector<ArgumentBytes>& arguments) {
  constexpr std::size_t word_bytes = sizeof(std::uintptr_t);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<std::byte>& bytes = arguments[i].bytes;
    for (std::size_t at = 0; at + word_bytes <= bytes.size(); at += word_bytes) {
      std::uintptr_t word = 0;
      std::memcpy(&word, bytes.data() + at, word_bytes);
      check_word(word, "argument " + std::to_string(i) + " at byte " + std::to_string(at));
    }
  }
}

bool is_possible(const cudaLaunchConfig_t& config) {
  const auto is_line = [](const dim3& size) { return size.x > 0 && size.y == 1 && size.z == 1; };
  return is_line(config.gridDim) && is_line(config.blockDim) &&
         config.blockDim.x <= max_threads_per_block && config.dynamicSmemBytes <= max_shared_bytes;
}

void check_mask(unsigned mask) {
  if (mask != 0xffffffffU) stop("a warp's function was called for some of its lanes only");
}

}  // namespace

cudaError_t launch(const LaunchRequest& request, const std::vector<ArgumentBytes>& arguments) {
  const cudaLaunchConfig_t& config = request.config;
  Kernel kernel{"kernel " + short_name(request.parameters),
                {config.gridDim.x, config.blockDim.x, config.dynamicSmemBytes},
                request.run};
  const OperationScope scope(kernel.name);
  if (count_and_fail(Event::launch)) return result(cudaErrorLaunchFailure);
  if (count_and_fail(Event::load)) return result(cudaErrorMemoryAllocation);
  if (has_failed()) return cudaErrorIllegalAddress;
  if (!is_possible(config)) return result(cudaErrorInvalidConfiguration);
  check_arguments(arguments);
  const std::string name = kernel.name;
  enqueue(current_device(), config.stream, {name, [kernel] { run_grid(kernel); }});
  return cudaSuccess;
}

cudaError_t queue_algorithm(const AlgorithmRequest& request,
                            const std::vector<ArgumentBytes>& arguments) {
  const OperationScope scope(request.name);
  if (count_and_fail(Event::launch)) return result(cudaErrorLaunchFailure);
  if (request.name.starts_with("cub::")) {
    if (const cudaError_t error = load_algorithm(); error != cudaSuccess) return error;
  }
  check_arguments(arguments);
  enqueue(current_device(), request.stream, {std::string(request.name), request.run});
  return cudaSuccess;
}

bool Workspace::is_question(std::size_t needed) const {
  if (room == nullptr) {
    bytes = needed;
    return true;
  }
  if (bytes < needed) stop("the workspace of an algorithm is too small");
  memory_of(current_device()).check_range(room, bytes, "a workspace");
  return false;
}

cudaError_t load_algorithm() {
  return count_and_fail(Event::load) ? result(cudaErrorMemoryAllocation) : last_result();
}

std::vector<std::size_t> order_of_parts(std::size_t num_parts) {
  std::vector<std::size_t> order(num_parts);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (settings().order == Order::reversed) std::reverse(order.begin(), order.end());
  if (settings().order == Order::random) {
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(settings().seed));
    std::shuffle(order.begin(), order.end(), random);
  }
  return order;
}

// ---------------------------------------------------------------- lanes

std::uint64_t ballot(unsigned mask, bool bit) {
  check_mask(mask);
  return this_worker().meet(Event::ballot, bit ? 1 : 0, 0);
}

bool any(unsigned mask, bool bit) {
  check_mask(mask);
  return this_worker().meet(Event::any, bit ? 1 : 0, 0) != 0;
}

std::uint64_t reduce_or(unsigned mask, std::uint64_t bits) {
  check_mask(mask);
  return this_worker().meet(Event::any, bits, Worker::bits_of_all);
}

std::uint64_t reduce_add(unsigned mask, std::uint64_t value) {
  check_mask(mask);
  return this_worker().meet(Event::any, value, Worker::sum_of_all);
}

std::uint64_t shuffle_xor(unsigned mask, std::uint64_t bits, unsigned argument) {
  check_mask(mask);
  return this_worker().meet(Event::shuffle, bits, argument);
}

std::uint64_t shuffle_from(unsigned mask, std::uint64_t bits, unsigned lane) {
  check_mask(mask);
  return this_worker().meet(Event::shuffle, bits, warp_size + lane % warp_size);
}

void sync_warp(unsigned mask) {
  check_mask(mask);
  this_worker().sync();
}

void count_atomic(const void* at) {
  if (device_of(at) >= 0) count(Event::atomic);
}

}  // namespace zhalo::emulated
