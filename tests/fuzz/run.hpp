/// A run over new mutants, and its result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/faults.hpp"

namespace zhalo::fuzz {

struct RunOptions {
  double seconds = 60;
  Number mutants = ~Number{0};  ///< the run ends after so many, too
  Number first = 0;
  std::string findings{};  ///< folder for the files of mutants that found something
  std::string summary{};   ///< file for the figures, or none
  ChildOptions children{};
};

struct Finding {
  Number number = 0;
  std::string words;
};

struct RunResult {
  double seconds = 0;
  double processor_seconds = 0;  ///< of all children
  Counts counts;
  std::vector<Finding> findings;
  struct Named {
    std::uint64_t times = 0;
    Number first = 0;
  };
  std::map<std::string, Named> hdf5;  ///< faults of HDF5's, by kind
  std::map<std::string, Named> memory;
};

/// Prints findings as they come. `program`: to start again with --only.
RunResult run(const RunOptions& options, const std::string& program);

void print(const RunResult& result);

/// Where a process may write files that never reach a disk.
std::string working_folder();

}  // namespace zhalo::fuzz
