// Devices, their memory, and errors.
#include <cuda.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/cuda/launch.cuh"
#include "kernels/memory.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::kernels {

void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line) {
  static_cast<void>(cudaGetLastError());  // or the next check would report it again
  const std::string message = std::string(cudaGetErrorName(error)) + " (" +
                              cudaGetErrorString(error) + ") from " + call + " at " + file + ":" +
                              std::to_string(line);
  if (error == cudaErrorMemoryAllocation) {
    throw OutOfMemory("out of CUDA device memory: " + message +
                      "; use more devices, or run on the host");
  }
  throw DeviceError("the CUDA device failed: " + message);
}

namespace {

using StateOfContext = decltype(&cuDevicePrimaryCtxGetState);

/// A function of the driver, which only the runtime is linked with; nullptr if it has none.
StateOfContext find_state_of_context() {
  constexpr const char* name = "cuDevicePrimaryCtxGetState";
  void* found = nullptr;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault);
  if (error == cudaSuccess) return reinterpret_cast<StateOfContext>(found);
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

/// Whether anyone in this process has started the device.
bool has_context(int device) {
  static const StateOfContext state_of_context = find_state_of_context();
  unsigned flags = 0;
  int is_active = 0;
  return state_of_context != nullptr &&
         state_of_context(device, &flags, &is_active) == CUDA_SUCCESS && is_active != 0;
}

}  // namespace

DeviceScope::DeviceScope(int device) : device_(device) {
  ZHALO_CUDA_TRY(cudaGetDevice(&before_));
  if (before_ != device_) ZHALO_CUDA_TRY(cudaSetDevice(device_));
}

/// A thread that has chosen no device has the first. Since CUDA 12 cudaSetDevice starts a device:
/// each rank would take memory of the first one, too.
DeviceScope::~DeviceScope() {
  if (before_ == device_ || !has_context(before_)) return;
  if (cudaSetDevice(before_) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

// ---------------------------------------------------------------- memory

namespace {

// MemoryPool calls plain functions: one set for each device.
constexpr int max_devices = 64;
/// cudaMalloc and cudaFree take up to a millisecond, and cudaFree waits for the whole device: small
/// calls would do nothing else.
constexpr std::size_t keep_bytes = std::size_t{64} << 20;
/// Free blocks that are found again need more room than those that fit best
/// (docs/decisions.md).
constexpr double keep_share = 2;

/// cudaMalloc or cudaMallocHost: nullptr if there is no room; an error of the device otherwise.
void* allocate_on(int device, std::size_t bytes, cudaError_t (*allocate)(void**, std::size_t)) {
  const DeviceScope scope(device);
  void* block = nullptr;
  const cudaError_t error = allocate(&block, bytes);
  if (error != cudaErrorMemoryAllocation) ZHALO_CUDA_TRY(error);
  if (error == cudaSuccess) return block;
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

std::size_t available(int device) {
  const DeviceScope scope(device);
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  ZHALO_CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes));
  return free_bytes;
}

/// Without a scope cudaFree and cudaFreeHost would start the current device, whichever that is. May
/// run after the driver has shut down; nothing can be done about an error then.
void free_on(int device, void* block, cudaError_t (*free_block)(void*)) noexcept {
  try {
    const DeviceScope scope(device);
    static_cast<void>(free_block(block));
  } catch (const Error&) {
    static_cast<void>(cudaGetLastError());
  }
}

std::size_t unlimited() { return std::numeric_limits<std::size_t>::max(); }

template <int device>
constexpr MemoryPool::Source source_of = {
    [](std::size_t bytes) { return allocate_on(device, bytes, cudaMalloc); },
    [](void* block) { free_on(device, block, cudaFree); },
    [] { return available(device); },
    "CUDA device",
    nullptr,
    keep_bytes,
    keep_share,
    true,
    device};

template <int device>
constexpr MemoryPool::Source pinned_source_of = {
    [](std::size_t bytes) { return allocate_on(device, bytes, cudaMallocHost); },
    [](void* block) { free_on(device, block, cudaFreeHost); },
    unlimited,
    "page-locked host",
    nullptr,
    keep_bytes,
    keep_share,
    true};

using Sources = std::array<MemoryPool::Source, max_devices>;

template <int... device>
constexpr Sources sources(std::integer_sequence<int, device...>) {
  return {source_of<device>...};
}
template <int... device>
constexpr Sources pinned_sources(std::integer_sequence<int, device...>) {
  return {pinned_source_of<device>...};
}

const MemoryPool::Source& source_among(const Sources& all, int device) {
  if (device >= 0 && device < max_devices) return all[static_cast<std::size_t>(device)];
  throw DeviceError("CUDA device " + std::to_string(device) +
                    " cannot be used: zhalo knows devices 0 to " + std::to_string(max_devices - 1) +
                    "; choose with CUDA_VISIBLE_DEVICES");
}

}  // namespace

MemoryPool::Source device_memory(int device) {
  static constexpr Sources all = sources(std::make_integer_sequence<int, max_devices>{});
  MemoryPool::Source source = source_among(all, device);
  // For tools that look for accesses outside of blocks: where blocks are cut from larger ones they
  // see none.
  const char* separate = std::getenv("ZHALO_SEPARATE_BUFFERS");
  source.separate = separate != nullptr && std::strcmp(separate, "1") == 0;
  return source;
}

MemoryPool::Source pinned_memory(int device) {
  static constexpr Sources all = pinned_sources(std::make_integer_sequence<int, max_devices>{});
  return source_among(all, device);
}

MemoryOwner owner_of(const Cuda& exec, const void* address) {
  const DeviceScope scope(exec.device);
  cudaPointerAttributes attributes{};
  ZHALO_CUDA_TRY(cudaPointerGetAttributes(&attributes, address));
  if (attributes.type == cudaMemoryTypeDevice)
    return attributes.device == exec.device ? MemoryOwner::device : MemoryOwner::another_device;
  if (attributes.type != cudaMemoryTypeUnregistered)
    return MemoryOwner::both;  // page-locked or managed
  // Other devices may read all memory of the host, too, but by a fault for each page (HMM).
  int shares_pages = 0;
  ZHALO_CUDA_TRY(cudaDeviceGetAttribute(
      &shares_pages, cudaDevAttrPageableMemoryAccessUsesHostPageTables, exec.device));
  return shares_pages != 0 ? MemoryOwner::both : MemoryOwner::host;
}

DeviceInUse::DeviceInUse(const Exec& exec) {
  if (const auto* cuda = std::get_if<Cuda>(&exec))
    scope_ = std::make_shared<const DeviceScope>(cuda->device);
}

void copy_bytes(const Cuda& exec, void* to, const void* from, std::size_t bytes) {
  const DeviceScope scope(exec.device);
  ZHALO_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, exec.stream));
  ZHALO_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

namespace {

/// Whether a copy is in order by the stream alone: within the device, or from memory of the host
/// that the driver has read when the call returns. It need not have where devices read such memory
/// themselves.
bool is_ordered(const Cuda& exec, const void* to, const void* from) {
  cudaPointerAttributes target{};
  cudaPointerAttributes source{};
  int reads_host = 0;
  ZHALO_CUDA_TRY(cudaPointerGetAttributes(&target, to));
  ZHALO_CUDA_TRY(cudaPointerGetAttributes(&source, from));
  ZHALO_CUDA_TRY(cudaDeviceGetAttribute(&reads_host, cudaDevAttrPageableMemoryAccess, exec.device));
  const bool is_staged = source.type == cudaMemoryTypeUnregistered && reads_host == 0;
  return target.type == cudaMemoryTypeDevice && (source.type == cudaMemoryTypeDevice || is_staged);
}

}  // namespace

void queue_copy(const Cuda& exec, void* to, const void* from, std::size_t bytes) {
  const DeviceScope scope(exec.device);
  ZHALO_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, exec.stream));
  if (!is_ordered(exec, to, from)) ZHALO_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

void copy_from_any_device(const Cuda& exec, void* to, const void* from, std::size_t bytes) {
  const DeviceScope scope(exec.device);
  cudaPointerAttributes target{};
  cudaPointerAttributes source{};
  ZHALO_CUDA_TRY(cudaPointerGetAttributes(&target, to));
  ZHALO_CUDA_TRY(cudaPointerGetAttributes(&source, from));
  const bool are_apart = target.type == cudaMemoryTypeDevice &&
                         source.type == cudaMemoryTypeDevice && source.device != target.device;
  if (!are_apart) return copy_bytes(exec, to, from, bytes);
  ZHALO_CUDA_TRY(cudaMemcpyPeerAsync(to, target.device, from, source.device, bytes, exec.stream));
  ZHALO_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

namespace {

void connect(int device, int other) {
  int is_possible = 0;
  ZHALO_CUDA_TRY(cudaDeviceCanAccessPeer(&is_possible, device, other));
  if (is_possible == 0) return;
  const DeviceScope scope(device);
  const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
  // Where a device has no more connections (8 in machines without NVSwitch), copies go by the host.
  if (error == cudaErrorPeerAccessAlreadyEnabled || error == cudaErrorTooManyPeers ||
      error == cudaErrorPeerAccessUnsupported) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  ZHALO_CUDA_TRY(error);
}

void disconnect(int device, int other) {
  const DeviceScope scope(device);
  const cudaError_t error = cudaDeviceDisablePeerAccess(other);
  if (error == cudaErrorPeerAccessNotEnabled) {
    static_cast<void>(cudaGetLastError());
    return;
  }
  ZHALO_CUDA_TRY(error);
}

template <class Work>
void for_each_pair(const std::vector<int>& devices, const Work& work) {
  for (const int device : devices)
    for (const int other : devices)
      if (device != other) work(device, other);
}

}  // namespace

void connect_devices(const std::vector<int>& devices) { for_each_pair(devices, connect); }
void disconnect_devices(const std::vector<int>& devices) { for_each_pair(devices, disconnect); }

void synchronise(const Cuda& exec) {
  const DeviceScope scope(exec.device);
  ZHALO_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

void wait(const Cuda& exec) noexcept {
  try {
    const DeviceScope scope(exec.device);
    static_cast<void>(cudaStreamSynchronize(exec.stream));
  } catch (const Error&) {
    // A device that cannot even be selected fails again, with words, at the next call.
  }
}

// ---------------------------------------------------------------- devices

namespace {

/// Asked for to learn whether this build has code for a device.
__global__ void probe() {}

constexpr int architectures[] = {__CUDA_ARCH_LIST__};  // ascending, such as 800, 900

int architecture_of(int device) {
  int major = 0;
  int minor = 0;
  ZHALO_CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  ZHALO_CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major * 100 + minor * 10;
}

std::string version_text(int architecture) {
  return std::to_string(architecture / 100) + "." + std::to_string(architecture / 10 % 10);
}

std::string no_code_for(int device) {
  return "CUDA device " + std::to_string(device) + " (" + device_name(device) +
         ") has compute capability " + version_text(architecture_of(device)) +
         ", this build has code for " + version_text(architectures[0]) +
         " and later; choose another device with CUDA_VISIBLE_DEVICES or configure with "
         "-DCMAKE_CUDA_ARCHITECTURES";
}

std::string reason_of(cudaError_t error) {
  if (error == cudaErrorNoDevice)
    return "this machine has no CUDA device, or none is visible (CUDA_VISIBLE_DEVICES)";
  if (error == cudaErrorInsufficientDriver) {
    return "there is no CUDA driver, or it is older than the CUDA " +
           std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION / 10 % 100) +
           " that zhalo was built with";
  }
  return std::string("CUDA does not start: ") + cudaGetErrorString(error);
}

}  // namespace

// Makes no context, which would take memory of the device from every process that merely asks.
DeviceReport query_devices() {
  DeviceReport report;
  report.built_with_cuda = true;
  int num_devices = 0;
  cudaError_t error = cudaGetDeviceCount(&num_devices);
  if (error == cudaSuccess && num_devices == 0) error = cudaErrorNoDevice;
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    report.reason = reason_of(error);
    return report;
  }
  report.name = device_name(0);
  if (architecture_of(0) < architectures[0]) {
    report.reason = no_code_for(0);
    return report;
  }
  report.num_devices = num_devices;
  return report;
}

void select_device(int device) {
  const DeviceScope scope(device);
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, probe);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    static_cast<void>(cudaGetLastError());
    throw DeviceError(no_code_for(device));
  }
  ZHALO_CUDA_TRY(error);
}

std::string device_name(int device) {
  cudaDeviceProp properties;
  ZHALO_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

}  // namespace zhalo::kernels
