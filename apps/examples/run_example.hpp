/// The main() of an example: MPI, a context on the host, and errors as words.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "zhalo/comm/context.hpp"

/// Calls run(context, n) with the number that is the first argument, or else with `n`. Returns the
/// status of the process.
template <class Run>
int run_example(int argc, char** argv, zhalo::Index n, const Run& run) {
  MPI_Init(&argc, &argv);
  int status = EXIT_SUCCESS;
  try {
    zhalo::Context context{zhalo::Communicator(MPI_COMM_WORLD), {}, nullptr};
    context.exec = zhalo::choose_exec(context.comm, {.processor = zhalo::Processor::host});
    run(context, argc > 1 ? std::atoll(argv[1]) : n);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    status = EXIT_FAILURE;
  }
  MPI_Finalize();
  return status;
}
