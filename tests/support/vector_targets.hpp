/// The vector instructions of this processor, one kind after the other.
#pragma once

#include <hwy/targets.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "zhalo/core/exec.hpp"

namespace zhalo::testing {

/// Calls check() with each kind of vectors that zhalo was compiled for and this processor has. Not
/// while other threads search.
template <class Check>
void for_each_vector_target(const Check& check) {
  const auto choose = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  const std::int64_t supported = hwy::SupportedTargets();
  std::vector<std::string> seen;
  for (std::int64_t left = supported; left != 0; left &= left - 1) {
    choose(left & -left);
    const std::string name = describe(host_exec(1));
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    CAPTURE(name);
    seen.push_back(name);
    check();
  }
  choose(0);
  CHECK_FALSE(seen.empty());
}

}  // namespace zhalo::testing
