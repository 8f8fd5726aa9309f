#pragma once

#include <filesystem>
#include <string>

#include "zhalo/comm/communicator.hpp"

/// Where a test on these ranks may write: what an earlier run left there is gone. Collective.
inline std::string scratch(const zhalo::Communicator& comm, const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(ZHALO_SCRATCH_DIR) / ("ranks" + std::to_string(comm.size())) / name;
  if (comm.rank() == 0) std::filesystem::remove_all(path);
  comm.barrier();
  return path.string();
}

/// The same, as a folder. Collective.
inline std::string scratch_folder(const zhalo::Communicator& comm, const std::string& name) {
  const std::string path = scratch(comm, name);
  if (comm.rank() == 0) std::filesystem::create_directories(path);
  comm.barrier();
  return path;
}
