/// What goes wrong on one rank, and what all of them say of it.
#pragma once

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/mpi/io/scratch.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/error.hpp"

namespace faults {

inline zhalo::Index entries_below(const std::string& directory) {
  zhalo::Index entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(directory)) ++entries;
  return entries;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void lift_limit(int) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// The next write of this process beyond so many bytes of a file fails, once.
inline void fail_one_write_beyond(rlim_t bytes) {
  std::signal(SIGXFSZ, lift_limit);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// The message of the error that `work` throws on this rank.
template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const zhalo::FileError& error) {
    return std::string("FileError ") + error.what();
  } catch (const zhalo::InputError& error) {
    return std::string("InputError ") + error.what();
  }
  return "none";
}

inline void check_same_on_all(const zhalo::Communicator& comm, const std::string& message, const std::string& words) {
  CHECK(message == comm.broadcast(message));
  CHECK_THAT(message, Catch::Matchers::Contains(words));
}

}  // namespace faults
