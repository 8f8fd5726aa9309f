// Catch2's implementation, compiled once for all tests; the mains are in main.cpp and main_mpi.cpp.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int run_tests(int argc, char** argv);
int run_tests(int argc, char** argv) {
  Catch::Session session;
#if CATCH_VERSION_MAJOR == 2                                  // of version 3 this is the default
  session.configData().warnings = Catch::WarnAbout::NoTests;  // a filter for none is an error
#endif
  return session.run(argc, argv);
}
