/// What is known of an opened snapshot, as bytes that other ranks of the same program understand.
#pragma once

#include <string>

#include "src/io/snapshot/state.hpp"

namespace zhalo::io {

std::string to_bytes(const Snapshot::State& state);
Snapshot::State from_bytes(const std::string& bytes);

}  // namespace zhalo::io
