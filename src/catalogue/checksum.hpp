/// One number that says whether two catalogues are the same.
#pragma once

#include <cstdint>

#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo {

/// Of all rows and members of all ranks, whoever has them. Collective.
std::uint64_t checksum_of(const Context& context, const Catalogue& catalogue);

}  // namespace zhalo
