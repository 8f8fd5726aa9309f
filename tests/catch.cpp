// Catch2's implementation, compiled once for all tests; the mains are in main.cpp and main_mpi.cpp.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int run_tests(int argc, char** argv);
int run_tests(int argc, char** argv) { return Catch::Session().run(argc, argv); }
