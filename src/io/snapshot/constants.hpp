#pragma once

namespace zhalo::io {

// As GADGET has them; units are recognised within 2e-3.
inline constexpr double cm_per_mpc = 3.085678e24;
inline constexpr double solar_mass_in_g = 1.989e33;

}  // namespace zhalo::io
