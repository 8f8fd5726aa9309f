// Catch2's implementation, compiled once for all tests; the mains are in main.cpp and main_mpi.cpp.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

namespace {

/// A filter for no test is an error. Catch2 3 always sees it so and has no NoTests.
template <class WarnAbout>
void fail_without_tests(Catch::ConfigData& config) {
  if constexpr (requires { WarnAbout::NoTests; }) config.warnings = WarnAbout::NoTests;
}

}  // namespace

int run_tests(int argc, char** argv);
int run_tests(int argc, char** argv) {
  Catch::Session session;
  fail_without_tests<Catch::WarnAbout>(session.configData());
  return session.run(argc, argv);
}
