#include "zhalo/cosmology/cosmology.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {

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

struct Omega {
  std::optional<double> value;
  std::string name;
};

/// The matter that the linked particles stand for. SWIFT states it without neutrinos. Omega_m of
/// the other codes contains them.
Omega omega_of(const MatterContent& matter) {
  if (matter.has_gas && !matter.links_dark_matter) return {matter.omega_baryon, "Omega_b"};
  if (matter.has_gas && !matter.links_baryons) {
    if (matter.omega_cdm) return {matter.omega_cdm, "Omega_cdm"};
    if (matter.omega_matter && matter.omega_baryon)
      return {*matter.omega_matter - *matter.omega_baryon, "(Omega_m - Omega_b)"};
    return {std::nullopt,
            matter.omega_matter ? "Omega_b, which a snapshot with gas needs" : "Omega_m"};
  }
  if (matter.omega_cdm && matter.omega_baryon)
    return {*matter.omega_cdm + *matter.omega_baryon, "(Omega_cdm + Omega_b)"};
  return {matter.omega_matter, "Omega_m"};
}

void from_volume(const MatterContent& matter, const MassSummary& masses, MeanSeparation& result) {
  const bool has_volume = matter.volume && *matter.volume > 0;
  if (!has_volume || masses.count == 0) {
    result.volume_note = has_volume ? "there are no particles" : "the box size is unknown";
    return;
  }
  result.from_volume = std::cbrt(*matter.volume / static_cast<double>(masses.count));
  result.volume_note =
      fmt::format("cbrt(V / N) with V = {:.9g}, N = {}", *matter.volume, masses.count);
}

/// Whether a critical density is given that can be one.
bool has_density(const MatterContent& matter) {
  return matter.critical_density && *matter.critical_density > 0 &&
         std::isfinite(*matter.critical_density);
}

void from_density(const MatterContent& matter, const MassSummary& masses, MeanSeparation& result) {
  const Omega omega = omega_of(matter);
  if (!matter.critical_density) {
    result.density_note = matter.critical_density_source;
  } else if (!has_density(matter)) {
    result.density_note = "the critical density is not positive and finite";
  } else if (!omega.value) {
    result.density_note = fmt::format("the file does not state {}", omega.name);
  } else if (!(*omega.value > 0)) {
    result.density_note =
        fmt::format("the file's {} is {:.6g}, which is not positive", omega.name, *omega.value);
  } else if (!(masses.mean > 0)) {
    result.density_note = "the mean mass of the linked particles is 0";
  } else {
    const double density = *matter.critical_density;
    result.from_density = std::cbrt(masses.mean / (*omega.value * density));
    result.density_note =
        fmt::format("cbrt(m / ({} rho_crit)) with m = {:.9g}, {} = {:.6g}, rho_crit = {:.9g}",
                    omega.name, masses.mean, omega.name, *omega.value, density);
  }
}

/// Particles of one type that fill the box may have a little more mass than Omega_m tells, because
/// of rounding, and less: Omega_m may contain neutrinos, which are of another type or no particles.
/// Particles of one resolution of a zoom have far less.
constexpr double max_part = 1.01;
constexpr double min_part = 0.9;

/// Dark matter of a run with gas, of which nothing else is here, fills the box, too.
bool fills_as_dark_matter(MatterContent matter, double mass) {
  matter.has_gas = true;
  matter.links_dark_matter = true;
  matter.links_baryons = false;
  const Omega omega = omega_of(matter);
  if (!omega.value) return false;
  const double part = mass / (*omega.value * *matter.critical_density * *matter.volume);
  return part >= 2 - max_part && part <= max_part;
}

/// Why the volume is not the right measure; empty if it is.
std::string why_not_volume(const MatterContent& matter, const MassSummary& masses) {
  if (matter.num_types != 1) return "several types are linked";
  if (matter.has_gas) return "there is gas";
  if (masses.count > 0 && masses.max == 0) return "all masses are 0";
  if (!masses.equal()) return "masses differ";
  const Omega omega = omega_of(matter);
  const bool has_volume = matter.volume && *matter.volume > 0;
  if (!has_volume || !has_density(matter) || !omega.value || !(*omega.value > 0))
    return "whether they fill the box is unknown";
  const double mass = masses.mean * static_cast<double>(masses.count);
  const double part = mass / (*omega.value * *matter.critical_density * *matter.volume);
  if (part >= min_part && part <= max_part) return {};
  if (fills_as_dark_matter(matter, mass)) return {};
  return fmt::format("their mass is {:.4g} of what fills the box", part);
}

void choose_automatically(const MatterContent& matter, const MassSummary& masses,
                          MeanSeparation& result) {
  const std::string reason = why_not_volume(matter, masses);
  if (reason.empty()) {
    result.chosen = *result.from_volume;
    result.how = "automatic: from the volume, since one type of equal masses fills the box";
  } else if (result.from_density) {
    result.chosen = *result.from_density;
    result.how = fmt::format("automatic: from the density, since {}", reason);
  } else if (result.from_volume && matter.num_types == 1 && masses.equal() && !matter.has_gas) {
    result.chosen = *result.from_volume;
    result.how = fmt::format("automatic: from the volume, since the density cannot be had ({})",
                             result.density_note);
  } else {
    throw InputError(
        fmt::format("the mean separation cannot be derived: not from the density ({}), and the "
                    "volume is right only if particles of one mass fill the box ({}); give the "
                    "mean separation or the linking length itself",
                    result.density_note, reason));
  }
}

double demanded(const std::optional<double>& value, const char* rule, const std::string& reason) {
  if (value) return *value;
  throw InputError(
      fmt::format("the mean separation cannot be derived from the {}: {}; give the mean separation "
                  "or the linking length itself",
                  rule, reason));
}

/// What the two measures say of each other, and the masses of the particles; empty if nothing.
std::string doubts_about(const MeanSeparation& result, const MatterContent& matter,
                         const MassSummary& masses) {
  std::string doubts;
  if (result.from_volume && result.from_density) {
    const double ratio = *result.from_volume / *result.from_density;
    if (std::abs(ratio - 1) > 0.01)
      doubts = fmt::format(
          "The mean separations from the volume ({:.6g}) and from the density ({:.6g}) differ by "
          "{:.1f}%{}.",
          *result.from_volume, *result.from_density, 100 * std::abs(ratio - 1),
          ratio > 1.1 && matter.links_dark_matter
              ? ", as in a zoom of which one resolution is linked, or in a sample"
              : "");
  }
  constexpr double max_ratio = 1.5;  // of one resolution
  if (matter.links_baryons || !(masses.min > 0) || !(masses.max > max_ratio * masses.min))
    return doubts;
  return fmt::format(
      "{}{}The masses of the linked particles are from {:.6g} to {:.6g}: if these are several "
      "resolutions, one mean separation is right for none of them (link one).",
      doubts, doubts.empty() ? "" : " ", masses.min, masses.max);
}

}  // namespace

MeanSeparation mean_separation(const MatterContent& matter, const MassSummary& masses,
                               const MeanSeparationRequest& request) {
  validate_enumerator(request.rule, MeanSeparationRule::given, "the rule of the mean separation");
  MeanSeparation result;
  from_volume(matter, masses, result);
  from_density(matter, masses, result);
  result.warning = doubts_about(result, matter, masses);
  switch (request.rule) {
    case MeanSeparationRule::automatic: choose_automatically(matter, masses, result); break;
    case MeanSeparationRule::density:
      result.chosen = demanded(result.from_density, "density", result.density_note);
      result.how = "from the density";
      break;
    case MeanSeparationRule::volume:
      result.chosen = demanded(result.from_volume, "volume", result.volume_note);
      result.how = "from the volume";
      break;
    case MeanSeparationRule::given:
      if (!(request.value > 0) || !std::isfinite(request.value))
        throw InputError(
            fmt::format("the mean separation is {} (must be positive and finite)", request.value));
      result.chosen = request.value;
      result.how = "given";
      break;
  }
  if (!result.warning.empty())
    result.warning += fmt::format(" {:.6g} is taken ({}).", result.chosen, result.how);
  return result;
}

}  // namespace zhalo
