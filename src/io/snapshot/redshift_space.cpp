#include "src/io/snapshot/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/instantiate.hpp"
#include "src/io/snapshot/dialect.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/cosmology/cosmology.hpp"

namespace zhalo::io {
namespace {

double known(const SnapshotInfo& info, const std::optional<double>& value, const char* name) {
  if (value) return *value;
  throw InputError(
      fmt::format("'{}' does not say {}, from which the Hubble rate for redshift space follows",
                  info.path, name));
}

double hubble_ratio(const SnapshotInfo& info, double scale_factor) {
  const Cosmology& c = info.cosmology;
  if (c.hubble_ratio) return *c.hubble_ratio;
  const Expansion expansion{known(info, c.omega_matter, "Omega_m"),
                            known(info, c.omega_lambda, "Omega_Lambda")};
  return expansion.hubble_ratio(scale_factor);
}

/// H0, as a velocity by a length of the file.
double hubble_rate(const SnapshotInfo& info) {
  if (info.cosmology.hubble_rate) return *info.cosmology.hubble_rate;
  const double h = info.units.h_free ? known(info, info.cosmology.hubble, "h") : 1;
  const double mpc = info.units.length_in_cm / cm_per_mpc;
  const double km_per_s = info.units.velocity_in_cm_per_s / 1e5;
  return 100 * h * mpc / km_per_s;
}

/// `x` moved by `distance`.
template <class Real>
Real moved(Real x, double distance, const std::optional<double>& side) {
  const double from = static_cast<double>(x), to = from + distance;
  if (!side || !(from >= 0 && from < *side)) return static_cast<Real>(to);
  const Real inside = static_cast<Real>(to - *side * std::floor(to / *side));
  return static_cast<double>(inside) < *side ? inside : 0;  // rounded up
}

}  // namespace

RedshiftSpace redshift_space(const SnapshotInfo& info, int axis) {
  if (axis < 0 || axis > 2)
    throw InputError(fmt::format("the axis of redshift space is {} (must be 0, 1 or 2)", axis));
  if (!info.cosmological)
    throw InputError(
        fmt::format("'{}' is not of a cosmological run, so there is no redshift space", info.path));
  const double a = known(info, info.cosmology.scale_factor, "the scale factor");
  const double ratio = hubble_ratio(info, a);
  RedshiftSpace space{axis, 1 / (a * hubble_rate(info) * ratio)};
  if (!std::isnormal(space.length_per_velocity))
    throw InputError(
        fmt::format("'{}' has H(a) / H0 = {} at a = {}, with which there is no redshift space",
                    info.path, ratio, a));
  if (info.box_length && info.periodic.value_or(true)) space.side = (*info.box_length)[axis];
  return space;
}

template <class Real>
void move_to_redshift_space(const Snapshot& snapshot, const RedshiftSpace& space,
                            const TypeRange& rows, Span<Real> xyz) {
  constexpr Index block = Index{1} << 22;  // HDF5 opens the dataset for each
  constexpr double max_sides = 10000;      // as for positions
  const double factor = snapshot.info().velocity_factor * space.length_per_velocity;
  std::vector<Real> velocity;
  for (Index begin = 0; begin < rows.count; begin += block) {
    const Index num = std::min(block, rows.count - begin);
    velocity.resize(static_cast<std::size_t>(3 * num));
    snapshot.read_velocities(rows.type, rows.first + begin, Span<Real>(velocity));
    for (Index i = 0; i < num; ++i) {
      const Index at = 3 * i + space.axis;
      const double v = velocity[static_cast<std::size_t>(at)];
      if (!std::isfinite(v))
        throw InputError(fmt::format(
            "'{}': particle {} of type {} has a velocity that is not finite, and so no position "
            "in redshift space",
            snapshot.info().path, rows.first + begin + i, rows.type));
      const double distance = v * factor;
      if (space.side && std::abs(distance) > max_sides * *space.side)
        throw InputError(fmt::format(
            "'{}': particle {} of type {} moves {:.3g} sides of the box into redshift space: its "
            "velocity is {:g}, which is no velocity (in another unit, or damaged?)",
            snapshot.info().path, rows.first + begin + i, rows.type, distance / *space.side, v));
      Real& x = xyz[3 * begin + at];
      x = moved(x, distance, space.side);
    }
  }
}

ZHALO_FOR_REALS(move_to_redshift_space);

}  // namespace zhalo::io
