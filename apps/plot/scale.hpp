/// Round numbers for axes, and where they stand.
#pragma once

#include <string>
#include <vector>

namespace zhalo::app {

/// The largest of 1, 2 or 5 times a power of ten that is not more than `most`, which is positive.
double round_down(double most);

/// Multiples of a round step within [lo, hi], about `wanted` of them.
std::vector<double> linear_ticks(double lo, double hi, int wanted);

/// Within [lo, hi]: 1, 2 and 5 times powers of ten; of ranges over three decades only powers of
/// ten.
std::vector<double> logarithmic_ticks(double lo, double hi);

/// Within [lo, hi]: 1, 2, ..., 9 times powers of ten.
std::vector<double> minor_ticks(double lo, double hi);

/// "0.2", "15", "10000".
std::string tick_text(double value);

}  // namespace zhalo::app
