#include "tests/device/runtime/devices.hpp"

#include <cuda.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/runtime/memory.hpp"
#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/settings.hpp"

namespace zhalo::emulated {
namespace {

constinit thread_local int chosen_device = 0;
constinit std::atomic<bool> may_lose_memory = false;
constinit thread_local cudaError_t last_error = cudaSuccess;

constinit std::array<std::atomic<bool>, max_devices> started{};
/// By device and the one that it reaches.
constexpr int max_peers = 2;  // of a device: fewer than there can be others
constinit std::array<std::array<std::atomic<bool>, max_devices>, max_devices> connected{};

constinit std::atomic<LostCopies> lost_copies = LostCopies::none;

struct Pinned {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> blocks;
};

Pinned& pinned() {
  static auto& made = *new Pinned;  // never destroyed: Buffers may outlive everything else
  return made;
}

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

void check_the_end() {
  if (last_error != cudaSuccess)
    stop(std::string("the error ") + cudaGetErrorName(last_error) +
         " was returned and dropped: nobody asked for it with cudaGetLastError");
  for (int device = 0; device < settings().num_devices; ++device) {
    const std::size_t left = memory_of(device).num_blocks();
    if (left > 0 && !may_lose_memory)
      stop(std::to_string(left) + " blocks of memory of device " + std::to_string(device) +
           " were never freed");
  }
  if (!pinned().blocks.empty())
    stop(std::to_string(pinned().blocks.size()) + " blocks of page-locked memory were never freed");
}

const char* name_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorPeerAccessAlreadyEnabled: return "cudaErrorPeerAccessAlreadyEnabled";
    case cudaErrorPeerAccessNotEnabled: return "cudaErrorPeerAccessNotEnabled";
    case cudaErrorTooManyPeers: return "cudaErrorTooManyPeers";
    case cudaErrorPeerAccessUnsupported: return "cudaErrorPeerAccessUnsupported";
  }
  return "cudaErrorUnknown";
}

const char* text_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    default: return "invalid argument";
  }
}

}  // namespace

int current_device() { return chosen_device; }

void start_device() { started.at(static_cast<std::size_t>(chosen_device)) = true; }
bool has_started(int device) { return started.at(static_cast<std::size_t>(device)); }

cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t last_result() { return last_error; }
bool has_failed() { return last_error == cudaErrorIllegalAddress; }

void leave_error() { static_cast<void>(result(cudaErrorInvalidValue)); }
bool is_error_left() { return last_error != cudaSuccess; }

void add_pinned(const void* block, std::size_t bytes) {
  const std::lock_guard lock(pinned().mutex);
  pinned().blocks[address_of(block)] = bytes;
}

bool remove_pinned(const void* block) {
  const std::lock_guard lock(pinned().mutex);
  return pinned().blocks.erase(address_of(block)) > 0;
}

bool is_pinned(const void* address) {
  const std::lock_guard lock(pinned().mutex);
  const auto next = pinned().blocks.upper_bound(address_of(address));
  if (next == pinned().blocks.begin()) return false;
  const auto& [begin, bytes] = *std::prev(next);
  return address_of(address) < begin + bytes;
}

void lose_copies(LostCopies which) { lost_copies = which; }

bool is_lost(int to_device, int from_device) {
  const LostCopies lost = lost_copies;
  if (lost != LostCopies::of_connected) return lost == LostCopies::all;
  const auto to = static_cast<std::size_t>(to_device), from = static_cast<std::size_t>(from_device);
  return connected.at(to).at(from) || connected.at(from).at(to);
}

void allow_lost_memory() { may_lose_memory = true; }

void watch_the_end() {
  static const int registered = std::atexit(check_the_end);
  static_cast<void>(registered);
}

}  // namespace zhalo::emulated

using namespace zhalo::emulated;

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorName(cudaError_t error) { return name_of(error); }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = settings().num_devices;
  return result(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  *device = chosen_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= settings().num_devices) return result(cudaErrorInvalidDevice);
  chosen_device = device;
  start_device();  // as since CUDA 12
  return cudaSuccess;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  if (device < 0 || device >= settings().num_devices) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *is_active = has_started(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long, cudaDriverEntryPointQueryResult*) {
  const bool is_known = std::strcmp(symbol, "cuDevicePrimaryCtxGetState") == 0;
  *function = is_known ? reinterpret_cast<void*>(cuDevicePrimaryCtxGetState) : nullptr;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device < 0 || device >= settings().num_devices) return result(cudaErrorInvalidDevice);
  // One multiprocessor: small tests have as many blocks as fill it.
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9
           : attribute == cudaDevAttrMultiProcessorCount  ? 1
                                                          : 0;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= settings().num_devices) return result(cudaErrorInvalidDevice);
  const std::string name = "emulated device";
  properties->name[name.copy(properties->name, sizeof properties->name - 1)] = '\0';
  properties->uuid = {"emulated"};
  properties->uuid.bytes[sizeof properties->uuid.bytes - 1] = static_cast<char>(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* is_possible, int device, int peer) {
  const auto exists = [](int number) { return number >= 0 && number < settings().num_devices; };
  if (!exists(device) || !exists(peer)) return result(cudaErrorInvalidDevice);
  *is_possible = device != peer ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  start_device();
  int is_possible = 0;
  const cudaError_t error = cudaDeviceCanAccessPeer(&is_possible, chosen_device, peer);
  if (error != cudaSuccess) return error;
  if (is_possible == 0) return result(cudaErrorInvalidDevice);
  auto& peers = connected.at(static_cast<std::size_t>(chosen_device));
  auto& is_connected = peers.at(static_cast<std::size_t>(peer));
  if (!is_connected && std::count(peers.begin(), peers.end(), true) == max_peers)
    return result(cudaErrorTooManyPeers);
  return result(is_connected.exchange(true) ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  start_device();
  auto& is_connected =
      connected.at(static_cast<std::size_t>(chosen_device)).at(static_cast<std::size_t>(peer));
  return result(is_connected.exchange(false) ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}
