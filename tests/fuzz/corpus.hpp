/// Inputs that once found something.
#pragma once

#include <string>

namespace zhalo::fuzz {

/// Reads everything that the file `outcomes` of the folder names, by the readers of all commands,
/// each in a process of its own. Prints what is not as the file says; returns how many that are.
int replay_corpus(const std::string& folder);

}  // namespace zhalo::fuzz
