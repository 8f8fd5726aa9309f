#include "src/fof/fof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"

namespace zhalo {
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
    fof.open_extent[axis] = static_cast<Real>(periodic ? length - margin : infinity);
    if (periodic) longest = std::max(longest, farthest);
  }
  fof.linking_length2 = b * b;
  fof.open = thresholds<Real>(b, 0);
  fof.wrapped = thresholds<Real>(b, longest);
}

template <class Real>
double scale_for(double linking_length, const Box& box, const Extent& extent) {
  constexpr int largest_exponent = std::numeric_limits<Real>::max_exponent - 8;
  const double largest = std::max(linking_length, largest_coordinate(box, extent));
  constexpr int max_exponent = std::numeric_limits<double>::max_exponent - 1;
  return std::ldexp(1.0, std::min({-std::ilogb(linking_length),
                                   largest_exponent - std::ilogb(largest), max_exponent}));
}

template <class Real>
void validate_scale(double linking_length, double scale) {
  const int exponent = std::ilogb(linking_length * scale);
  constexpr int min_exponent = std::numeric_limits<Real>::min_exponent / 2 + 16;
  // Lengths are at most 3.5 times the largest coordinate, see equivalent_link(): the sum of three
  // squares does not overflow.
  constexpr int max_exponent = std::numeric_limits<Real>::max_exponent / 2 - 1;
  validate(exponent > min_exponent && exponent < max_exponent,
           "linking length {} is too small to be told from 0 beside the size of this domain; {}"
           "leave out particles that are far away",
           linking_length, std::is_same_v<Real, float> ? "give positions in double, or " : "");
}

bool all_at_one_position(const Extent& extent, int dimensions) {
  for (int axis = 0; axis < dimensions && extent.range.total > 0; ++axis) {
    if (extent.lo[axis] != extent.hi[axis]) return false;
  }
  return true;
}

template <class Real>
double equivalent_link(const DomainState<Real>& domain, double linking_length) {
  const Extent& extent = domain.species[0].extent;
  const Box& box = domain.box;
  const double unit = 1 / domain.key_frame.frame.scale;
  if (all_at_one_position(extent, box.dimensions)) return unit;
  Vec3d side;
  for (int axis = 0; axis < box.dimensions; ++axis)
    side[axis] = box.periodic[axis] ? box.length[axis] : extent.hi[axis] - extent.lo[axis];
  const double diagonal = std::hypot(side[0], side[1], side[2]);
  return std::min(linking_length, std::max(1.001 * diagonal, unit));
}

ZHALO_FOR_REALS(set_lengths);
ZHALO_FOR_REALS(scale_for);
ZHALO_FOR_REALS(validate_scale);
ZHALO_FOR_REALS(equivalent_link);

}  // namespace zhalo
