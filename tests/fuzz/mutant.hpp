/// From a number to the damaged files that it stands for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/mutate_structure.hpp"
#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

using Number = std::uint64_t;

struct Mutant {
  Number number = 0;
  const Seed* seed = nullptr;
  std::vector<std::string> words;  ///< what was done to the seed, step by step
  /// Of a change that is alone; else anything.
  Expect expect = Expect::anything;
  std::string dataset{};

  std::string description() const;
};

/// Writes the files of mutant `number` to the current folder, which is empty. The same number gives
/// the same files.
Mutant write_mutant(Number number, const std::vector<Seed>& seeds);

/// Writes the seed itself, as a mutant to which nothing was done.
Mutant write_unchanged(const Seed& seed);

}  // namespace zhalo::fuzz
