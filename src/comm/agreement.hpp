/// Comparing over ranks what must be the same on all of them.
#pragma once

#include <string_view>
#include <vector>

#include "zhalo/comm/communicator.hpp"

namespace zhalo {

/// Bits of a double: the same on all ranks if the numbers are.
Index bits_of(double value);

/// Appends a text, as numbers.
void append_text(std::vector<Index>& numbers, std::string_view text);

/// InputError unless the numbers are the same on all ranks; `what` begins the message. Collective.
void validate_equal(const Communicator& comm, const std::vector<Index>& numbers,
                    std::string_view what);

}  // namespace zhalo
