/// The functions of NCCL that zhalo calls, and the declarations that they need. Names, numbers and
/// layouts are those of NCCL 2.18, which later versions accept.
#pragma once

#include <cuda_runtime_api.h>

#include <climits>
#include <cstddef>
#include <string>

namespace zhalo::kernels {

enum class NcclResult : int { success = 0, in_progress = 7 };
enum class NcclType : int { int8 = 0 };

struct NcclCommunicator;
struct NcclUniqueId {
  char internal[128];
};

/// Version 2.18.0, in NCCL's way of numbering.
inline constexpr int min_nccl_version = 21800;

inline constexpr unsigned nccl_config_magic = 0xcafebeef;
/// A field of the configuration that is left to NCCL.
inline constexpr int nccl_unset = INT_MIN;

/// ncclConfig_t, as far as version 2.18 has it, and the traffic class: other versions up to 2.26
/// read the last four bytes as that, whatever version is stated.
struct NcclConfig {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
  int cga_cluster_size = nccl_unset;
  int min_ctas = nccl_unset;
  int max_ctas = nccl_unset;
  const char* net_name = nullptr;
  int split_share = nccl_unset;
  int traffic_class = nccl_unset;
};

/// The loaded library.
struct NcclLibrary {
  std::string why_not;  ///< empty if it can be used
  int version = 0;
  /// Such as "NCCL 2.28.9".
  std::string name() const;

  NcclResult (*get_version)(int*) = nullptr;
  NcclResult (*get_unique_id)(NcclUniqueId*) = nullptr;
  NcclResult (*init)(NcclCommunicator**, int, NcclUniqueId, int, NcclConfig*) = nullptr;
  NcclResult (*get_async_error)(NcclCommunicator*, NcclResult*) = nullptr;
  NcclResult (*count)(NcclCommunicator*, int*) = nullptr;
  NcclResult (*finalize)(NcclCommunicator*) = nullptr;
  NcclResult (*destroy)(NcclCommunicator*) = nullptr;
  NcclResult (*abandon)(NcclCommunicator*) = nullptr;
  NcclResult (*group_start)() = nullptr;
  NcclResult (*group_end)() = nullptr;
  NcclResult (*send)(const void*, std::size_t, NcclType, int, NcclCommunicator*,
                     cudaStream_t) = nullptr;
  NcclResult (*receive)(void*, std::size_t, NcclType, int, NcclCommunicator*,
                        cudaStream_t) = nullptr;
  const char* (*error_string)(NcclResult) = nullptr;
  const char* (*last_error)(NcclCommunicator*) = nullptr;
};

/// Loads "libnccl.so.2", or what the environment variable ZHALO_NCCL names, once.
const NcclLibrary& nccl();

}  // namespace zhalo::kernels
