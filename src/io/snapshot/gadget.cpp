// GADGET-2/3, GADGET-4, and what the codes that descend from them have in common.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>

#include "src/io/snapshot/dialect.hpp"

namespace zhalo::io {

using hdf5::InputFile;

namespace {

std::optional<double> comoving_flag(const InputFile& file) {
  return first_real(file, {"Header", "Parameters"}, {"ComovingIntegrationOn"});
}

/// The first snapshot of a run that is not cosmological: 0 is not the scale factor of redshift 0.
bool is_at_time_0(const InputFile& file) {
  const bool has_redshift = first_number(file, {{"Header", "Redshift"}}).value_or(0) > 0;
  return comoving_flag(file).value_or(0) == 0 && !has_redshift &&
         first_number(file, {{"Header", "Time"}}) == 0.0;
}

/// Names and groups that the GADGET family uses.
void read_gadget_cosmology(const InputFile& file, Cosmology& cosmology) {
  const std::vector<std::string> groups{"Header", "Parameters", "Cosmology"};
  cosmology.hubble = positive(first_real(file, groups, {"HubbleParam"}));
  cosmology.omega_matter =
      positive(first_real(file, groups, {"Omega0", "Omega_Matter", "OmegaMatter"}));
  cosmology.omega_lambda = first_real(file, groups, {"OmegaLambda", "Omega_Lambda"});
  cosmology.omega_baryon = first_real(file, groups, {"OmegaBaryon", "Omega_Baryon"});
  cosmology.redshift = first_real(file, {"Header"}, {"Redshift"});
  if (!cosmology.scale_factor && cosmology.redshift && !is_at_time_0(file))
    cosmology.scale_factor = 1 / (1 + *cosmology.redshift);
}

/// The flag if there is one; else a scale factor with a density, or with a redshift above 0 that
/// says it is one. It must fit the redshift, if that is known.
bool is_cosmological_gadget(const InputFile& file, const Cosmology& cosmology) {
  if (const auto flag = comoving_flag(file)) return *flag != 0;
  if (!cosmology.scale_factor) return false;
  if (!cosmology.redshift) return cosmology.omega_matter.has_value();
  const bool fits = std::abs(*cosmology.scale_factor * (1 + *cosmology.redshift) - 1) < 1e-3;
  return fits && (cosmology.omega_matter || *cosmology.redshift > 0);
}

/// A time or redshift that nobody filled in would make velocities and units those of another run.
void warn_of_contradiction(const InputFile& file, SnapshotInfo& info) {
  const Cosmology& said = info.cosmology;
  if (comoving_flag(file)) return;
  const auto time = is_at_time_0(file) ? std::optional(0.0) : said.scale_factor;
  if (!said.omega_matter) return;
  if (!time) {
    info.warnings.push_back(fmt::format(
        "'{}': it has Omega0 = {:g}, but no Time or Redshift that can be used: it is taken as not "
        "cosmological",
        info.path, *said.omega_matter));
    return;
  }
  if (!said.redshift) return;
  info.warnings.push_back(fmt::format(
      "'{}': it has Omega0 = {:g}, but its Time, {:g}, is not the scale factor of its Redshift, "
      "{:g}: it is taken as not cosmological",
      info.path, *said.omega_matter, *time, *said.redshift));
}

/// G in the file's units.
double gravity_from(double gravity_in_cgs, const Units& units) {
  const double time = units.length_in_cm / units.velocity_in_cm_per_s;
  return gravity_in_cgs / std::pow(units.length_in_cm, 3) * units.mass_in_g * time * time;
}

/// G of the run, which may state another one than its code's.
double gravity_of(const InputFile& file, const SnapshotInfo& info) {
  const auto stated = positive(first_real(file, {"Parameters"}, {"GravityConstantInternal"}));
  if (stated && !info.units.assumed) return *stated;
  const auto in_cgs = positive(first_real(file, {"Constants"}, {"GRAVITY"}));
  return gravity_from(in_cgs.value_or(dialect_of(info.code).gravity_in_cgs), info.units);
}

void derive_gadget_density(double gravity, const Units& units, Cosmology& cosmology) {
  // 100 km/s/Mpc; lengths and masses carry 1/h, so that h drops out.
  const double hubble = cosmology.hubble_rate.value_or(
      1e7 / cm_per_mpc * (units.length_in_cm / units.velocity_in_cm_per_s));
  cosmology.critical_density = 3 * hubble * hubble / (8 * std::numbers::pi * gravity);
  cosmology.critical_density_source = fmt::format(
      "3 H^2 / (8 pi G) with H = {:.8g} and G = {:.8g} in the file's units", hubble, gravity);
}

/// AREPO and GADGET-4 write what they were compiled with as numbers, or as text that may be one.
std::optional<double> option_of(const InputFile& file, const std::string& name) {
  if (file.holds_numbers("Config", name)) return first_real(file, {"Config"}, {name});
  const std::string text = file.text("Config", name).value_or("");
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [number_end, error] = std::from_chars(text.data(), end, value);  // of no locale
  return error == std::errc() && number_end == end ? std::optional(value) : std::nullopt;
}

/// Of one side, as compiled: LONG_X, a factor, in AREPO; LONG_X_BITS, halvings, in GADGET-4.
double stretch_of(const InputFile& file, char axis, SnapshotInfo& info) {
  double stretch = 1;
  for (const bool is_bits : {false, true}) {
    const std::string name = fmt::format("LONG_{}{}", axis, is_bits ? "_BITS" : "");
    if (!file.has_attribute("Config", name)) continue;
    const double value = option_of(file, name).value_or(std::nan(""));
    const double factor = is_bits ? std::exp2(-value) : value;
    if (std::isnormal(factor) && factor > 0) {
      stretch *= factor;
    } else {
      info.warnings.push_back(fmt::format(
          "'{}': Config/{} is no factor of a box's side: it is not used (give --box-size if "
          "the box is a cube)",
          info.path, name));
    }
  }
  return stretch;
}

/// The side of a cube in the header may be that of a box that is none.
void stretch_box(const InputFile& file, SnapshotInfo& info) {
  const auto stated = file.reals("Header", "BoxSize");
  if (!info.box_length || !stated || stated->size() != 1) return;
  for (int axis = 0; axis < 3; ++axis) {
    info.box_stretch[axis] = stretch_of(file, "XYZ"[axis], info);
    (*info.box_length)[axis] *= info.box_stretch[axis];
  }
}

/// GADGET-4 can leave gravity open along one axis, AREPO can have walls.
void warn_of_open_axes(const InputFile& file, SnapshotInfo& info) {
  for (const char* name : {"GRAVITY_TALLBOX", "REFLECTIVE_X", "REFLECTIVE_Y", "REFLECTIVE_Z"})
    if (file.has_attribute("Config", name))
      info.warnings.push_back(fmt::format(
          "'{}': Config/{} says that the box is not periodic along one axis, but it is taken as "
          "periodic (fof and knn also search without a box: --periodic no)",
          info.path, name));
}

void read_gadget_family(const InputFile& file, const SnapshotOverrides& overrides,
                        SnapshotInfo& info) {
  if (!overrides.box_length) stretch_box(file, info);
  warn_of_open_axes(file, info);
  read_gadget_cosmology(file, info.cosmology);
  overlay(info.cosmology, overrides.cosmology);
  const bool cosmological = is_cosmological_gadget(file, info.cosmology);
  if (!cosmological) {
    warn_of_contradiction(file, info);
    forget_cosmology(file, info);
  }
  info.units.h_free = !cosmological;
  read_units(file, overrides, info);
  if (!cosmological) return;
  if (info.cosmology.scale_factor) {
    info.velocity_factor = std::sqrt(*info.cosmology.scale_factor);
  } else {
    info.notes.emplace_back("The file states no scale factor: velocities are taken as peculiar.");
  }
  if (!info.units.assumed)
    info.cosmology.hubble_rate = positive(first_real(file, {"Parameters"}, {"Hubble"}));
  derive_gadget_density(gravity_of(file, info), info.units, info.cosmology);
}

std::optional<bool> read_periodic_gadget(const InputFile& file, SnapshotInfo&) {
  if (file.has_attribute("Config", "GRAVITY_NOT_PERIODIC")) return false;
  return std::nullopt;
}

std::string read_commit(const InputFile& file) {
  const std::string commit = file.text("Header", "Git_commit").value_or("");
  return commit == "unknown" ? "" : commit.substr(0, 12);
}

/// 64-bit totals without a second attribute for high bits.
bool is_of_gadget4(const InputFile& file) {
  return file.attribute_bytes("Header", "NumPart_Total") == 8 &&
         !file.has_attribute("Header", "NumPart_Total_HighWord");
}

/// GADGET-4 lists the options that it was compiled with.
std::optional<bool> read_periodic_gadget4(const InputFile& file, SnapshotInfo&) {
  if (file.has("Config")) return file.has_attribute("Config", "PERIODIC");
  return std::nullopt;
}

}  // namespace

Dialect gadget_family(Code code, const char* name, bool (*is_of)(const InputFile& file)) {
  Dialect dialect;
  dialect.code = code;
  dialect.name = name;
  dialect.is_of = is_of;
  dialect.read = read_gadget_family;
  dialect.read_periodic = read_periodic_gadget;
  dialect.read_version = read_commit;
  dialect.times = {{"Header", "ExpansionFactor"}, {"Header", "Time"}};
  return dialect;
}

Dialect gadget_dialect() {
  return gadget_family(Code::gadget, "GADGET-2/3", [](const InputFile&) { return true; });
}

Dialect gadget4_dialect() {
  Dialect dialect = gadget_family(Code::gadget4, "GADGET-4", is_of_gadget4);
  dialect.read_periodic = read_periodic_gadget4;
  dialect.gravity_in_cgs = 6.6738e-8;
  return dialect;
}

void settle_assumed_units(SnapshotInfo& info, const std::function<double()>& mass_in_box) {
  Cosmology& cosmology = info.cosmology;
  if (!info.units.assumed || !cosmology.critical_density || !cosmology.omega_matter ||
      !info.box_length)
    return;
  const Vec3d box = *info.box_length;
  const double expected =
      *cosmology.omega_matter * *cosmology.critical_density * box[0] * box[1] * box[2];
  // A volume in Mpc^3 taken for kpc^3 makes the particles 1e9 times too heavy. They may be some of
  // all only, as in a sample or a zoom: which of the two volumes is nearer decides.
  const double ratio = 1e-9 * mass_in_box() / expected;
  if (!(ratio > 3e-5 && ratio < 2)) return;
  info.units.length_in_cm *= 1000;
  const double gravity = gravity_from(dialect_of(info.code).gravity_in_cgs, info.units);
  derive_gadget_density(gravity, info.units, cosmology);
  info.notes.push_back(fmt::format(
      "The file states no units; lengths are taken as {}, because then the mass in the box is "
      "{:.3g} times that of Omega_matter (for lengths 1000 times as short 1e9 times as much).",
      info.units.length_name(), ratio));
}

}  // namespace zhalo::io
