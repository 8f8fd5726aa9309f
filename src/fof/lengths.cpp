#include "src/fof/lengths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/validate.hpp"

namespace zhalo {

void validate_options(const Box& box, const FofOptions& options) {
  const double b = options.linking_length;
  validate(std::isfinite(b) && b > 0, "linking length is {} (must be positive and finite)", b);
  validate(options.leaf_size >= 1 && options.leaf_size <= kernels::max_leaf_size,
           "leaf size is {} (must be 1 to {})", options.leaf_size, kernels::max_leaf_size);
  validate(options.ghost_batch >= 0,
           "the ghosts sent at a time are {} (must be positive, or 0 to choose)",
           options.ghost_batch);
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const double length = box.length[axis];
    validate(!box.periodic[axis] || b <= length / 2,
             "linking length {} is more than half the periodic box length {} on axis {}: the "
             "nearest image is not defined; "
             "check its unit",
             b, length, axis);
  }
}

namespace {

/// Bounds of a computed squared distance that leave no doubt about the true one. Float coordinates
/// and differences of near ones are exact or within half a unit in the last place, and so is each
/// operation that follows: five times 2^-24 in all, of which 1e-6 is three times. Across a periodic
/// edge the difference has an absolute error of some units in the last place of the period as well.
/// Squares below 1e-30 may have lost digits to underflow: no such pair is friends without the test
/// in double.
template <class Real>
kernels::Thresholds<Real> thresholds(double linking_length, double period) {
  if constexpr (std::is_same_v<Real, double>) {
    return {linking_length * linking_length, linking_length * linking_length};
  } else {
    constexpr double relative = 1e-6;
    constexpr double smallest = 1e-30;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const double absolute = std::sqrt(3.0) * std::ldexp(period, -22);
    const double below = std::max(0.0, linking_length - absolute);
    const double above = linking_length + absolute;
    const double within2 = below * below * (1 - relative);
    const double reach2 = std::max(above * above * (1 + relative), smallest);
    return {within2 > smallest ? std::nextafter(static_cast<float>(within2), 0.0F) : -1.0F,
            reach2 < double{std::numeric_limits<float>::max()}
                ? std::nextafter(static_cast<float>(reach2), infinity)
                : infinity};
  }
}

}  // namespace

template <class Real>
void set_lengths(kernels::FofView<Real>& fof, const Box& box, double linking_length, double scale) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double b = linking_length * scale;
  double longest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const bool periodic = axis < box.dimensions && box.periodic[axis];
    const double length = box.length[axis] * scale;
    const double farthest = std::abs(box.lo[axis] * scale) + length;
    const double margin =
        1.001 * b + 1e-6 * farthest;  // coordinates are rounded in proportion to their size
    fof.exact_period[axis] = periodic ? length : infinity;
    fof.period[axis] = static_cast<Real>(fof.exact_period[axis]);
    fof.inner_lo[axis] = static_cast<Real>(periodic ? box.lo[axis] * scale + margin : -infinity);
    fof.inner_hi[axis] =
        static_cast<Real>(periodic ? box.lo[axis] * scale + length - margin : infinity);
    if (periodic) longest = std::max(longest, farthest);
  }
  fof.linking_length2 = b * b;
  fof.open = thresholds<Real>(b, 0);
  fof.wrapped = thresholds<Real>(b, longest);
}

template <class Real>
double scale_for(double linking_length, const Box& box, const Extent& extent) {
  constexpr int largest_exponent = std::numeric_limits<Real>::max_exponent - 8;
  double largest = linking_length;
  for (int axis = 0; axis < box.dimensions; ++axis) {
    if (box.periodic[axis]) {
      largest = std::max(largest, std::abs(box.lo[axis]) + box.length[axis]);
    } else if (extent.range.total > 0) {
      largest = std::max({largest, std::abs(extent.lo[axis]), std::abs(extent.hi[axis])});
    }
  }
  constexpr int most = std::numeric_limits<double>::max_exponent - 1;
  return std::ldexp(
      1.0, std::min({-std::ilogb(linking_length), largest_exponent - std::ilogb(largest), most}));
}

template <class Real>
void validate_scale(double linking_length, double scale) {
  const int exponent = std::ilogb(linking_length * scale);
  constexpr int least = std::numeric_limits<Real>::min_exponent / 2 + 16;
  constexpr int most = std::numeric_limits<Real>::max_exponent / 2 - 2;
  validate(exponent > least && exponent < most,
           "linking length {} has no precision beside the size of this domain; give "
           "friends_of_friends the particles instead of the domain",
           linking_length);
}

double clump_cell(double linking_length, int dimensions) {
  return linking_length * (1 - 1e-4) / std::sqrt(static_cast<double>(dimensions));
}

template void validate_scale<float>(double, double);
template void validate_scale<double>(double, double);
template double scale_for<float>(double, const Box&, const Extent&);
template double scale_for<double>(double, const Box&, const Extent&);
template void set_lengths(kernels::FofView<float>&, const Box&, double, double);
template void set_lengths(kernels::FofView<double>&, const Box&, double, double);

}  // namespace zhalo
