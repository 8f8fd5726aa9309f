/// A linear power spectrum from a file.
#pragma once

#include <string>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/cosmology/linear_power.hpp"

namespace zhalo::ics_app {

/// Two columns of text, k in h/Mpc and P in (Mpc/h)^3 at redshift 0, further ones ignored; # begins
/// a comment. Rank 0 reads. Collective; InputError with the number of the line.
LinearPower read_power_table(const Communicator& comm, const std::string& path);

}  // namespace zhalo::ics_app
