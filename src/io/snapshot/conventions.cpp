// Cosmology and units, by the conventions of each simulation code.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "src/io/snapshot/header.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::InputFile;

namespace {

/// `value` replaces `field` if it holds something.
template <class T>
void overlay(std::optional<T>& field, const std::optional<T>& value) {
  if (value) field = value;
}

void overlay(Cosmology& cosmology, const Cosmology& over) {
  overlay(cosmology.scale_factor, over.scale_factor);
  overlay(cosmology.redshift, over.redshift);
  overlay(cosmology.hubble, over.hubble);
  overlay(cosmology.omega_matter, over.omega_matter);
  overlay(cosmology.omega_lambda, over.omega_lambda);
  overlay(cosmology.omega_baryon, over.omega_baryon);
  overlay(cosmology.omega_cdm, over.omega_cdm);
}

std::optional<Vec3d> read_box(const InputFile& file) {
  const auto size = file.reals("Header", "BoxSize");
  if (!size) return std::nullopt;
  Vec3d box{{size->front(), size->front(), size->front()}};
  if (size->size() == 3) box = {{(*size)[0], (*size)[1], (*size)[2]}};
  for (const double length : box.at) {
    if (!(length > 0) || !std::isfinite(length)) return std::nullopt;
  }
  return box;
}

std::optional<bool> read_periodic(const InputFile& file, Code code) {
  if (const auto flag = file.text("Parameters", "InitialConditions:periodic")) return *flag != "0";
  if (code == Code::gadget4 && file.has("Config")) return file.has_attribute("Config", "PERIODIC");
  if (file.has_attribute("Config", "GRAVITY_NOT_PERIODIC")) return false;
  return std::nullopt;
}

std::string read_version(const InputFile& file, Code code) {
  if (code == Code::swift) return file.text("Code", "Code Version").value_or("");
  if (const auto version = file.reals("Header", "GIZMO_version"))
    return fmt::format("{:g}", version->front());
  const std::string commit = file.text("Header", "Git_commit").value_or("");
  return commit == "unknown" ? "" : commit.substr(0, 12);
}

}  // namespace

namespace {

/// Names and places that the GADGET family uses.
void read_gadget_cosmology(const InputFile& file, Cosmology& cosmology) {
  const std::vector<std::string> places{"Header", "Parameters", "Cosmology"};
  cosmology.hubble = positive(first_real(file, places, {"HubbleParam"}));
  cosmology.omega_matter =
      positive(first_real(file, places, {"Omega0", "Omega_Matter", "OmegaMatter"}));
  cosmology.omega_lambda = first_real(file, places, {"OmegaLambda", "Omega_Lambda"});
  cosmology.omega_baryon = first_real(file, places, {"OmegaBaryon", "Omega_Baryon"});
  cosmology.redshift = first_real(file, {"Header"}, {"Redshift"});
  cosmology.scale_factor = positive(first_time(file, "Header", {"ExpansionFactor", "Time"}));
  if (!cosmology.scale_factor && cosmology.redshift)
    cosmology.scale_factor = 1 / (1 + *cosmology.redshift);
}

/// The flag if there is one; else a scale factor that fits the redshift, with a density or a
/// redshift that says it is one.
bool is_cosmological_gadget(const InputFile& file, const Cosmology& cosmology) {
  if (const auto flag = first_real(file, {"Header", "Parameters"}, {"ComovingIntegrationOn"}))
    return *flag != 0;
  if (!cosmology.scale_factor) return false;
  const double redshift = cosmology.redshift.value_or(1 / *cosmology.scale_factor - 1);
  const bool fits = std::abs(*cosmology.scale_factor * (1 + redshift) - 1) < 1e-3;
  return fits && (cosmology.omega_matter || redshift > 0);
}

void read_swift_cosmology(const InputFile& file, Cosmology& cosmology) {
  const auto value = [&](const char* name) { return first_real(file, {"Cosmology"}, {name}); };
  cosmology.hubble = positive(value("h"));
  cosmology.omega_matter = positive(value("Omega_m"));
  cosmology.omega_lambda = value("Omega_lambda");
  cosmology.omega_baryon = value("Omega_b");
  cosmology.omega_cdm = value("Omega_cdm");
  cosmology.redshift = value("Redshift");
  cosmology.scale_factor = positive(first_time(file, "Cosmology", {"Scale-factor"}));
}

void read_units(const InputFile& file, const SnapshotOverrides& overrides, Units& units) {
  if (units.h_free && file.has("Units") &&
      file.has_attribute("Units", "Unit length in cgs (U_L)")) {
    units.length_in_cm = *first_real(file, {"Units"}, {"Unit length in cgs (U_L)"});
    units.mass_in_g = first_real(file, {"Units"}, {"Unit mass in cgs (U_M)"}).value_or(0);
    const double time = first_real(file, {"Units"}, {"Unit time in cgs (U_t)"}).value_or(0);
    units.velocity_in_cm_per_s = time > 0 ? units.length_in_cm / time : 0;
  } else {
    const std::vector<std::string> places{"Header", "Parameters", "Units"};
    const auto value = [&](const char* a, const char* b) {
      return positive(first_real(file, places, {a, b}));
    };
    const auto length = value("UnitLength_in_cm", "UnitLength_In_CGS");
    units.assumed = !length && !overrides.unit_length_in_cm;
    units.length_in_cm = length.value_or(cm_per_mpc / 1000);
    units.mass_in_g = value("UnitMass_in_g", "UnitMass_In_CGS").value_or(1e10 * solar_mass_in_g);
    units.velocity_in_cm_per_s =
        value("UnitVelocity_in_cm_per_s", "UnitVelocity_In_CGS").value_or(1e5);
  }
  units.length_in_cm = overrides.unit_length_in_cm.value_or(units.length_in_cm);
  units.mass_in_g = overrides.unit_mass_in_g.value_or(units.mass_in_g);
  units.velocity_in_cm_per_s =
      overrides.unit_velocity_in_cm_per_s.value_or(units.velocity_in_cm_per_s);
}

/// In cgs, as the codes of the family have it in their sources; the density follows the code that
/// made the snapshot.
double gravity_of(Code code) {
  return code == Code::gadget4 || code == Code::arepo ? 6.6738e-8 : 6.672e-8;
}

void derive_gadget_density(double gravity_in_cgs, double hubble_in_file, const Units& units,
                           Cosmology& cosmology) {
  const double time = units.length_in_cm / units.velocity_in_cm_per_s;
  const double gravity =
      gravity_in_cgs / std::pow(units.length_in_cm, 3) * units.mass_in_g * time * time;
  // 100 km/s/Mpc; lengths and masses carry 1/h, so that h drops out.
  const double hubble = hubble_in_file > 0 ? hubble_in_file : 1e7 / cm_per_mpc * time;
  cosmology.critical_density = 3 * hubble * hubble / (8 * std::numbers::pi * gravity);
  cosmology.critical_density_source = fmt::format(
      "3 H^2 / (8 pi G) with H = {:.8g} and G = {:.8g} in the file's units", hubble, gravity);
}

void read_swift_density(const InputFile& file, const Units& units, Cosmology& cosmology) {
  const char* name = "Critical density at redshift zero [internal units]";
  const auto density = positive(first_real(file, {"Cosmology"}, {name}));
  if (!density) {
    cosmology.critical_density_source = "the file states no critical density";
    return;
  }
  const auto internal = [&](const char* unit) {
    return first_real(file, {"InternalCodeUnits"}, {unit}).value_or(0);
  };
  const double length = internal("Unit length in cgs (U_L)"),
               mass = internal("Unit mass in cgs (U_M)");
  const bool same =
      !(length > 0 && mass > 0) || (length == units.length_in_cm && mass == units.mass_in_g);
  cosmology.critical_density =
      same ? *density
           : *density * (mass / units.mass_in_g) / std::pow(length / units.length_in_cm, 3);
  cosmology.critical_density_source = "stated in the file";
}

void forget_cosmology(Cosmology& cosmology) {
  cosmology = {};
  cosmology.critical_density_source = "the run is not cosmological";
}

void read_swift(const InputFile& file, const SnapshotOverrides& overrides, SnapshotInfo& info) {
  read_swift_cosmology(file, info.cosmology);
  const bool cosmological = first_real(file, {"Cosmology"}, {"Cosmological run"}).value_or(0) != 0;
  if (!cosmological) forget_cosmology(info.cosmology);
  info.units.h_free = true;
  read_units(file, overrides, info.units);
  if (cosmological) read_swift_density(file, info.units, info.cosmology);
  if (file.text("Header", "OutputType") == "SubSampled") {
    info.notes.emplace_back(
        "The file holds a sample of the particles only: a mean separation from the density is not "
        "that of the sample.");
  }
  overlay(info.cosmology, overrides.cosmology);
}

void read_gadget_family(const InputFile& file, const SnapshotOverrides& overrides,
                        SnapshotInfo& info) {
  read_gadget_cosmology(file, info.cosmology);
  overlay(info.cosmology, overrides.cosmology);
  const bool cosmological = is_cosmological_gadget(file, info.cosmology);
  if (!cosmological) forget_cosmology(info.cosmology);
  info.units.h_free = !cosmological;
  read_units(file, overrides, info.units);
  if (!cosmological) return;
  if (info.cosmology.scale_factor) {
    info.velocity_factor = std::sqrt(*info.cosmology.scale_factor);
  } else {
    info.notes.emplace_back("The file states no scale factor: velocities are taken as peculiar.");
  }
  const double gravity =
      positive(first_real(file, {"Constants"}, {"GRAVITY"})).value_or(gravity_of(info.code));
  const double hubble =
      info.units.assumed ? 0 : first_real(file, {"Parameters"}, {"Hubble"}).value_or(0);
  derive_gadget_density(gravity, hubble, info.units, info.cosmology);
}

/// A time that is there and cannot be used must not go unnoticed: velocities and units follow from
/// it.
void warn_of_time(const InputFile& file, SnapshotInfo& info) {
  const bool swift = info.code == Code::swift;
  for (const auto& [group, name] : {std::pair{"Header", "ExpansionFactor"},
                                    {"Header", "Time"},
                                    {"Cosmology", "Scale-factor"}}) {
    if (swift != (std::string(group) == "Cosmology") || !file.has_attribute(group, name)) continue;
    const auto value = first_time(file, group, {name});
    if (value && std::isfinite(*value) && *value >= 0) return;
    info.warnings.push_back(
        fmt::format("'{}': {}/{} is {}, which is no time or scale factor: it is not used",
                    info.path, group, name, value ? fmt::format("{:g}", *value) : "no number"));
  }
}

}  // namespace

void read_conventions(const InputFile& file, const SnapshotOverrides& overrides,
                      SnapshotInfo& info) {
  info.code = detect_code(file);
  info.version = read_version(file, info.code);
  info.box_length = read_box(file);
  if (overrides.box_length) {
    const double length = *overrides.box_length;
    info.box_length = length > 0 ? std::optional(Vec3d{{length, length, length}}) : std::nullopt;
  }
  info.periodic = read_periodic(file, info.code);
  if (info.code == Code::swift) {
    read_swift(file, overrides, info);
  } else {
    read_gadget_family(file, overrides, info);
  }
  warn_of_time(file, info);
  if (overrides.cosmology.critical_density) {
    info.cosmology.critical_density = overrides.cosmology.critical_density;
    info.cosmology.critical_density_source = "given by the user";
  }
}

namespace {

/// The mass of all particles if no dataset has to be read for it, else 0.
double uniform_total(const SnapshotInfo& info) {
  double total = 0;
  for (const auto& type : info.types) {
    if (type.count > 0 && !type.uniform_mass) return 0;
    total += static_cast<double>(type.count) * type.uniform_mass.value_or(0);
  }
  return total;
}

}  // namespace

void settle_assumed_units(SnapshotInfo& info) {
  Cosmology& cosmology = info.cosmology;
  if (!info.units.assumed || !cosmology.critical_density || !cosmology.omega_matter ||
      !info.box_length)
    return;
  const Vec3d box = *info.box_length;
  const double expected =
      *cosmology.omega_matter * *cosmology.critical_density * box[0] * box[1] * box[2];
  const double ratio = uniform_total(info) / expected;
  // A volume in Mpc^3 taken for kpc^3 makes the particles 1e9 times too heavy.
  if (std::abs(ratio * 1e-9 - 1) > 0.05) return;
  info.units.length_in_cm *= 1000;
  derive_gadget_density(gravity_of(info.code), 0, info.units, cosmology);
  info.notes.emplace_back(
      "The file states no units; lengths are taken as Mpc/h, because then the mass in the box fits "
      "Omega_matter.");
}

}  // namespace zhalo::io
