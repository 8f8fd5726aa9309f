/// The spectrum as a text that people and numpy.loadtxt read.
#pragma once

#include <string>

#include "apps/density/plan.hpp"

namespace zhalo::density_app {

std::string power_table(const Plan& plan, const PaintReport& painted,
                        const PowerSpectrum& spectrum);

}  // namespace zhalo::density_app
