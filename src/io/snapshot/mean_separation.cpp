#include "zhalo/io/mean_separation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include "zhalo/core/error.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::io {

// ---- masses ----

namespace {

/// Sums numbers in [0, 1) in fixed point, exactly to 2^-66, so that the result does not depend on
/// the order or on the ranks. Up to 2^40 of them.
class FixedPointSum {
 public:
  void add(double x) {
    for (Index& limb : limbs_) {
      x *= limb_size;
      const double whole = std::floor(x);
      limb += static_cast<Index>(whole);
      x -= whole;
    }
  }
  double total(const Communicator& comm) {
    comm.sum_in_place({limbs_.data(), static_cast<Index>(limbs_.size())});
    double sum = 0;
    for (std::size_t i = limbs_.size(); i-- > 0;)
      sum = (sum + static_cast<double>(limbs_[i])) / limb_size;
    return sum;
  }

 private:
  static constexpr double limb_size = 1 << 22;
  std::array<Index, 3> limbs_{};
};

constexpr Index block_size = 1 << 20;

using Visit = std::function<void(Span<const double>)>;

/// Shows the masses of a rank's share to `visit`, block by block.
void for_each_block(const Snapshot& snapshot, const std::vector<TypeRange>& ranges,
                    const Visit& visit) {
  for (const auto& range : ranges) {
    std::vector<double> block(static_cast<std::size_t>(std::min(block_size, range.count)));
    for (Index done = 0; done < range.count; done += block_size) {
      const Span<double> part(block.data(), std::min(block_size, range.count - done));
      snapshot.read_masses(range.type, range.first + done, part);
      visit(part);
    }
  }
}

void widen(MassSummary& summary, double mass) {
  if (!std::isfinite(mass) || mass < 0)
    throw InputError(fmt::format("the mass {} of a particle is negative or not finite", mass));
  summary.min = std::min(summary.min, mass);
  summary.max = std::max(summary.max, mass);
}

/// The types whose masses must be read: this rank's share of them.
std::vector<TypeRange> listed_ranges(const Communicator& comm, const SnapshotInfo& info,
                                     const std::vector<int>& types) {
  std::vector<int> listed;
  Index count = 0;
  for (const int type : types) {
    const TypeSummary& here = info.types[static_cast<std::size_t>(type)];
    if (here.uniform_mass) continue;
    listed.push_back(type);
    count += here.count;
  }
  return ranges_of(info, listed, share_of(count, comm.rank(), comm.size()));
}

/// Smallest and largest mass of this rank's share and of the types that have one mass for all; the
/// number of all particles.
MassSummary scan_masses(const Snapshot& snapshot, const std::vector<int>& types,
                        const std::vector<TypeRange>& ranges) {
  MassSummary summary;
  summary.min = std::numeric_limits<double>::max();
  for (const int type : types) {
    const TypeSummary& here = snapshot.info().types[static_cast<std::size_t>(type)];
    summary.count += here.count;
    if (here.uniform_mass) widen(summary, *here.uniform_mass);
  }
  for_each_block(snapshot, ranges, [&](Span<const double> block) {
    for (const double mass : block) widen(summary, mass);
  });
  return summary;
}

double sum_masses(const Communicator& comm, const Snapshot& snapshot, const std::vector<int>& types,
                  double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);  // masses times 2^-exponent are below 1, exactly
  FixedPointSum sum;
  for_each_block(snapshot, listed_ranges(comm, snapshot.info(), types),
                 [&](Span<const double> block) {
                   for (const double mass : block) sum.add(std::ldexp(mass, -exponent));
                 });
  double total = std::ldexp(sum.total(comm), exponent);
  for (const int type : types) {
    const TypeSummary& here = snapshot.info().types[static_cast<std::size_t>(type)];
    total += static_cast<double>(here.count) * here.uniform_mass.value_or(0);
  }
  return total;
}

}  // namespace

MassSummary summarise_masses(const Communicator& comm, const Snapshot& snapshot,
                             const std::vector<int>& types) {
  return together(comm, [&] {
    check_types(snapshot.info(), types);
    MassSummary summary = scan_masses(snapshot, types, listed_ranges(comm, snapshot.info(), types));
    summary.min = comm.min(summary.min);
    summary.max = comm.max(summary.max);
    const bool one_mass = summary.min == summary.max;
    summary.mean = one_mass ? summary.max
                            : sum_masses(comm, snapshot, types, summary.max) /
                                  static_cast<double>(summary.count);
    return summary;
  });
}

// ---- the rules ----

MeanSeparationRequest parse_mean_separation(const std::string& text) {
  if (text == "auto") return {MeanSeparationRule::automatic, 0};
  if (text == "rho") return {MeanSeparationRule::density, 0};
  if (text == "volume") return {MeanSeparationRule::volume, 0};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(value > 0) || !std::isfinite(value)) {
    throw InputError(fmt::format(
        "the mean separation '{}' is not understood: it is auto, rho, volume or a positive length",
        text));
  }
  return {MeanSeparationRule::given, value};
}

namespace {

/// Type 0 is gas in all of these codes.
bool has_gas(const SnapshotInfo& info) { return !info.types.empty() && info.types[0].count > 0; }

struct Omega {
  std::optional<double> value;
  std::string name;
};

/// The matter that the linked particles stand for: all but neutrinos; with gas, all but neutrinos
/// and baryons.
Omega omega_of(const SnapshotInfo& info) {
  const Cosmology& c = info.cosmology;
  if (has_gas(info)) {
    if (c.omega_cdm) return {c.omega_cdm, "Omega_cdm"};
    if (c.omega_matter && c.omega_baryon)
      return {*c.omega_matter - *c.omega_baryon, "(Omega_m - Omega_b)"};
    return {std::nullopt, c.omega_matter ? "Omega_b, which a snapshot with gas needs" : "Omega_m"};
  }
  if (c.omega_cdm && c.omega_baryon)
    return {*c.omega_cdm + *c.omega_baryon, "(Omega_cdm + Omega_b)"};
  return {c.omega_matter, "Omega_m"};
}

double volume_of(const SnapshotInfo& info) {
  const Vec3d box = *info.box_length;
  return box[0] * box[1] * box[2];
}

void from_volume(const SnapshotInfo& info, const MassSummary& masses, MeanSeparation& result) {
  if (!info.box_length || masses.count == 0) {
    result.volume_note = info.box_length ? "there are no particles" : "the box size is unknown";
    return;
  }
  result.from_volume = std::cbrt(volume_of(info) / static_cast<double>(masses.count));
  result.volume_note =
      fmt::format("cbrt(V / N) with V = {:.9g}, N = {}", volume_of(info), masses.count);
}

void from_density(const SnapshotInfo& info, const MassSummary& masses, MeanSeparation& result) {
  const Omega omega = omega_of(info);
  if (!info.cosmology.critical_density) {
    result.density_note = info.cosmology.critical_density_source;
  } else if (!omega.value || !(*omega.value > 0)) {
    result.density_note = fmt::format("the file does not state {}", omega.name);
  } else if (!(masses.mean > 0)) {
    result.density_note = "the mean mass of the linked particles is 0";
  } else {
    const double density = *info.cosmology.critical_density;
    result.from_density = std::cbrt(masses.mean / (*omega.value * density));
    result.density_note =
        fmt::format("cbrt(m / ({} rho_crit)) with m = {:.9g}, {} = {:.6g}, rho_crit = {:.9g}",
                    omega.name, masses.mean, omega.name, *omega.value, density);
  }
}

/// Why the volume is not the right measure; empty if it is.
std::string why_not_volume(const SnapshotInfo& info, const std::vector<int>& types,
                           const MassSummary& masses) {
  if (types.size() != 1) return "several types are linked";
  if (has_gas(info)) return "there is gas";
  if (!masses.equal()) return "masses differ";
  const Omega omega = omega_of(info);
  if (!info.box_length || !info.cosmology.critical_density || !omega.value)
    return "whether they fill the box is unknown";
  const double expected = *omega.value * *info.cosmology.critical_density * volume_of(info);
  const double part = masses.mean * static_cast<double>(masses.count) / expected;
  if (std::abs(part - 1) <= 0.01) return {};
  return fmt::format("their mass is {:.4g} of what fills the box", part);
}

void choose_automatically(const SnapshotInfo& info, const std::vector<int>& types,
                          const MassSummary& masses, MeanSeparation& result) {
  const std::string reason = why_not_volume(info, types, masses);
  if (reason.empty()) {
    result.chosen = *result.from_volume;
    result.how = "automatic: from the volume, since one type of equal masses fills the box";
  } else if (result.from_density) {
    result.chosen = *result.from_density;
    result.how = fmt::format("automatic: from the density, since {}", reason);
  } else if (result.from_volume && types.size() == 1 && masses.equal() && !has_gas(info)) {
    result.chosen = *result.from_volume;
    result.how = fmt::format("automatic: from the volume, since the density cannot be had ({})",
                             result.density_note);
  } else {
    throw InputError(
        fmt::format("the mean separation cannot be derived: not from the density ({}), and the "
                    "volume would be wrong "
                    "({}); give the mean separation or the linking length itself",
                    result.density_note, reason));
  }
}

double demanded(const std::optional<double>& value, const char* rule, const std::string& reason) {
  if (value) return *value;
  throw InputError(
      fmt::format("the mean separation cannot be derived from the {}: {}; give the mean separation "
                  "or the linking "
                  "length itself",
                  rule, reason));
}

}  // namespace

MeanSeparation mean_separation(const SnapshotInfo& info, const std::vector<int>& types,
                               const MassSummary& masses, const MeanSeparationRequest& request) {
  MeanSeparation result;
  from_volume(info, masses, result);
  from_density(info, masses, result);
  if (result.from_volume && result.from_density &&
      std::abs(*result.from_volume / *result.from_density - 1) > 0.01) {
    result.warning = fmt::format(
        "The mean separations from the volume ({:.6g}) and from the density ({:.6g}) differ by "
        "{:.1f}%.",
        *result.from_volume, *result.from_density,
        100 * std::abs(*result.from_volume / *result.from_density - 1));
  }
  switch (request.rule) {
    case MeanSeparationRule::automatic: choose_automatically(info, types, masses, result); break;
    case MeanSeparationRule::density:
      result.chosen = demanded(result.from_density, "density", result.density_note);
      result.how = "from the density";
      break;
    case MeanSeparationRule::volume:
      result.chosen = demanded(result.from_volume, "volume", result.volume_note);
      result.how = "from the volume";
      break;
    case MeanSeparationRule::given:
      result.chosen = request.value;
      result.how = "given";
      break;
  }
  return result;
}

}  // namespace zhalo::io
