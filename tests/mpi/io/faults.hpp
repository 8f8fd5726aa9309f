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
#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"

namespace faults {

inline zhalo::Index entries_below(const std::string& directory) {
  zhalo::Index entries = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::recursive_directory_iterator(directory))
    ++entries;
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

inline void check_same_on_all(const zhalo::Communicator& comm, const std::string& message,
                              const std::string& words) {
  CHECK(message == comm.broadcast(message));
  CHECK_THAT(message, Catch::Contains(words));
}

/// What `write` says on a communicator whose rank `culprit` throws at the collective operation with
/// this number; -1: none does. Counts these operations.
template <class Write>
std::string message_with_fault(int culprit, int at, zhalo::Index& count, Write write) {
  bool armed = false;  // once the communicator is made
  count = 0;
  zhalo::CommunicatorOptions options;
  options.timeout_seconds = 20;
  options.observer = [&](const char*) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (armed && count++ == at && rank == culprit)
      throw zhalo::InputError("thrown at " + std::to_string(at));
  };
  const zhalo::Context context{zhalo::Communicator(MPI_COMM_WORLD, options)};
  armed = true;
  std::string message = message_of([&] { write(context); });
  CHECK_FALSE(context.comm.is_broken());
  return message;
}

/// `write(context)` makes the folder "new" in `out`, which is empty. At each of its collective
/// operations one rank throws, in turns: all hear of it and nothing is left.
template <class Write>
void check_faults_at_all_collectives(const zhalo::Communicator& comm, const std::string& out,
                                     Write write) {
  zhalo::Index count = 0;
  REQUIRE(message_with_fault(0, -1, count, write) == "none");
  const zhalo::Index num_collectives = comm.min(count);
  REQUIRE(num_collectives > 10);
  if (comm.rank() == 0) std::filesystem::remove_all(out + "/new");
  comm.barrier();
  for (int at = 0; at < num_collectives; ++at) {
    INFO("collective operation " << at);
    check_same_on_all(comm, message_with_fault(at % comm.size(), at, count, write),
                      "thrown at " + std::to_string(at));
    comm.barrier();
    CHECK(entries_below(out) == 0);
    comm.barrier();
  }
}

}  // namespace faults
