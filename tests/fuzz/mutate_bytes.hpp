/// Damage that knows nothing of HDF5 but where its structures begin.
#pragma once

#include <string>

#include "tests/fuzz/choose.hpp"
#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

/// Damages `bytes`, which were those of `file`, in one way. Returns what was done.
std::string damage_bytes(Random& random, const SeedFile& file, std::string& bytes);

/// The same for a table of numbers: words are replaced, lines are moved.
std::string damage_text(Random& random, std::string& text);

}  // namespace zhalo::fuzz
