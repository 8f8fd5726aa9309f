#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <mpi.h>

#include <catch2/catch.hpp>
#include <iostream>

int run_tests(int argc, char** argv);  // catch.cpp

namespace {

/// A rank whose test case failed has left the collectives of its peers: end them all now instead of
/// letting them wait for the timeout.
class AbortOnFailure : public Catch::TestEventListenerBase {
 public:
  using Catch::TestEventListenerBase::TestEventListenerBase;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (stats.totals.assertions.allOk()) return;
    std::cout.flush();
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
};

}  // namespace

CATCH_REGISTER_LISTENER(AbortOnFailure)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failures = run_tests(argc, argv);
  MPI_Finalize();
  return failures;
}
