/// The declarations of NCCL that zhalo has of its own, against NCCL's header, and the library of
/// this machine, if there is one.
#include <nccl.h>

#include <cstddef>
#include <string>

#include <catch2/catch.hpp>

#include "kernels/cuda/nccl_library.hpp"

using namespace zhalo::kernels;

/// Headers of version 2.26 and later have it.
template <class Config>
void check_traffic_class(const Config& config) {
  if constexpr (requires { config.trafficClass; })
    CHECK(offsetof(NcclConfig, traffic_class) == offsetof(Config, trafficClass));
}

TEST_CASE("nccl: numbers and layouts are those of its header") {
  CHECK(static_cast<int>(NcclResult::success) == ncclSuccess);
  CHECK(static_cast<int>(NcclResult::in_progress) == ncclInProgress);
  CHECK(static_cast<int>(NcclType::int8) == ncclInt8);
  CHECK(sizeof(NcclUniqueId) == sizeof(ncclUniqueId));
  CHECK(min_nccl_version == NCCL_VERSION(2, 18, 0));
  CHECK(sizeof(NcclConfig) <= sizeof(ncclConfig_t));
  CHECK(offsetof(NcclConfig, size) == offsetof(ncclConfig_t, size));
  CHECK(offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic));
  CHECK(offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version));
  CHECK(offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
  CHECK(offsetof(NcclConfig, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
  CHECK(offsetof(NcclConfig, min_ctas) == offsetof(ncclConfig_t, minCTAs));
  CHECK(offsetof(NcclConfig, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
  CHECK(offsetof(NcclConfig, net_name) == offsetof(ncclConfig_t, netName));
  CHECK(offsetof(NcclConfig, split_share) == offsetof(ncclConfig_t, splitShare));
  check_traffic_class(ncclConfig_t{});
  // Bytes between fields or behind them would be sent as they happen to be.
  CHECK(sizeof(NcclConfig) == offsetof(NcclConfig, traffic_class) + sizeof(int));
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  CHECK(theirs.magic == nccl_config_magic);
  CHECK(theirs.blocking == nccl_unset);
}

TEST_CASE("nccl: the library of this machine is usable, or says why it is not") {
  const NcclLibrary& library = nccl();
  if (!library.why_not.empty()) {
    CHECK_THAT(library.why_not, Catch::Contains("NCCL"));
    return;
  }
  CHECK(library.version >= min_nccl_version);
  CHECK(library.name().rfind("NCCL 2.", 0) == 0);
  CHECK(std::string(library.error_string(NcclResult::success)) == "no error");
}
