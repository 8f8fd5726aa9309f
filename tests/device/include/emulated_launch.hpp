/// How the stand-ins for CUDA's headers hand work to the emulated devices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace zhalo::emulated {

/// The current device gets a context, if it has none (tests/device/runtime/devices.hpp).
void start_device();

/// A copy of a kernel's argument, without what lies between its members: that is whatever was there
/// before and may look like a pointer. Where the compiler cannot clear it nothing is looked at.
struct ArgumentBytes {
  std::vector<std::byte> bytes;

  template <class T>
  static ArgumentBytes of([[maybe_unused]] T value) {
    static_assert(std::is_trivially_copyable_v<T>, "values and device pointers only");
    ArgumentBytes copy;
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&value);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    copy.bytes.assign(first, first + sizeof value);
#endif
    return copy;
  }
};

struct LaunchRequest {
  cudaLaunchConfig_t config;
  std::string_view parameters;  ///< of the kernel: they name it
  std::function<void()> run;    ///< one thread of it
};

/// Queues a kernel on the current device.
cudaError_t launch(const LaunchRequest& request, const std::vector<ArgumentBytes>& arguments);

/// "(long, zhalo::kernels::Fill)"
template <class... Parameters>
std::string_view name_of_parameters() {
  return __PRETTY_FUNCTION__;
}

/// An algorithm of CUB's or a transform of cuFFT's: work that is no kernel of the house's.
struct AlgorithmRequest {
  std::string_view name;
  cudaStream_t stream = nullptr;
  std::function<void()> run;
};
cudaError_t queue_algorithm(const AlgorithmRequest& request,
                            const std::vector<ArgumentBytes>& arguments);

/// What every algorithm of CUB's does with its workspace: without a room it says how much it needs.
struct Workspace {
  void* room;
  std::size_t& bytes;

  /// True if only the size was asked for. Else the room must be as large, and is used.
  bool is_question(std::size_t needed) const;
};

/// CUB may load a kernel, when it is asked how much it needs and when it runs. It takes an error
/// that was there before for its own.
cudaError_t load_algorithm();

/// In which order an algorithm combines parts, where any order must do: see settings.hpp.
std::vector<std::size_t> order_of_parts(std::size_t num_parts);

}  // namespace zhalo::emulated
