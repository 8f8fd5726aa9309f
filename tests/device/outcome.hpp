/// Programs that run kernels with planted faults: what they print, and how they end.
#pragma once

#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

namespace zhalo::testing {

struct Outcome {
  std::string output;  ///< of both kinds
  int status = -1;     ///< 0 to 255; -1: ended by a signal
};

/// Runs a case of planted.cu in an environment such as "ZHALO_EMULATED_DEVICES=2".
inline Outcome run_planted(const std::string& name, const std::string& environment = "") {
  const std::string command =
      "exec env " + environment + " " + ZHALO_PLANTED + " " + name + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  std::array<char, 4096> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe))
    outcome.output.append(part.data(), got);
  const int ended = pclose(pipe);
  if (WIFEXITED(ended)) outcome.status = WEXITSTATUS(ended);
  return outcome;
}

/// That the case runs to its end and prints this, and nothing else.
inline void check_prints(const std::string& name, const std::string& expected,
                         const std::string& environment = "") {
  INFO(name << " " << environment);
  const Outcome outcome = run_planted(name, environment);
  CHECK(outcome.output == expected);
  CHECK(outcome.status == 0);
}

/// That the case is ended by the emulated device, with a message that has these words.
inline void check_stops(const std::string& name, const std::string& words,
                        const std::string& environment = "") {
  INFO(name << " " << environment);
  const Outcome outcome = run_planted(name, environment);
  CHECK_THAT(outcome.output, Catch::Contains(words));
  CHECK(outcome.status != 0);
}

}  // namespace zhalo::testing
