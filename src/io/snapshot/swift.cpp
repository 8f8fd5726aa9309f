// SWIFT: no h in any unit, and the cosmology in a group of its own.
#include <fmt/format.h>

#include <cmath>

#include "src/io/snapshot/dialect.hpp"

namespace zhalo::io {

using hdf5::InputFile;

namespace {

void read_swift_cosmology(const InputFile& file, Cosmology& cosmology) {
  const auto value = [&](const char* name) { return first_real(file, {"Cosmology"}, {name}); };
  cosmology.hubble = positive(value("h"));
  cosmology.omega_matter = positive(value("Omega_m"));
  cosmology.omega_lambda = value("Omega_lambda");
  cosmology.omega_baryon = value("Omega_b");
  cosmology.omega_cdm = value("Omega_cdm");
  cosmology.redshift = value("Redshift");
  if (!cosmology.scale_factor && cosmology.redshift)
    cosmology.scale_factor = positive(1 / (1 + *cosmology.redshift));
  const auto now = positive(value("H [internal units]"));
  const auto today = positive(value("H0 [internal units]"));
  if (now && today) cosmology.hubble_ratio = *now / *today;
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

/// Initial conditions have no /Cosmology: there the header's time is the scale factor of its
/// redshift.
bool is_cosmological_swift(const InputFile& file, Cosmology& cosmology) {
  if (file.has("Cosmology")) {
    const auto flag = first_real(file, {"Cosmology"}, {"Cosmological run"});
    return flag ? *flag != 0 : cosmology.scale_factor.has_value();
  }
  const double redshift = first_number(file, {{"Header", "Redshift"}}).value_or(0);
  const auto time = positive(first_number(file, {{"Header", "Time"}}));
  if (!time || !(redshift > 0) || !(std::abs(*time * (1 + redshift) - 1) < 1e-3)) return false;
  cosmology.redshift = redshift;
  cosmology.scale_factor = time;
  return true;
}

void read_swift(const InputFile& file, const SnapshotOverrides& overrides, SnapshotInfo& info) {
  read_swift_cosmology(file, info.cosmology);
  const bool cosmological = is_cosmological_swift(file, info.cosmology);
  if (!cosmological) forget_cosmology(file, info);
  info.units.h_free = true;
  read_units(file, overrides, info);
  if (cosmological) read_swift_density(file, info.units, info.cosmology);
  const double dimensions = first_number(file, {{"Header", "Dimension"}}).value_or(3);
  if (dimensions != 3)
    info.warnings.push_back(fmt::format(
        "'{}' is of a run in {:g} dimensions, but is taken for one in 3: densities, mean "
        "separations and spectra are wrong for it",
        info.path, dimensions));
  if (file.text("Header", "OutputType") == "SubSampled") {
    info.notes.emplace_back(
        "The file holds a sample of the particles only: a mean separation from the density is not "
        "that of the sample.");
  }
  overlay(info.cosmology, overrides.cosmology);
}

/// SWIFT writes its parameters as text; other writers of such files may write numbers. One that is
/// there and cannot be used must not go unnoticed.
std::optional<bool> read_periodic_swift(const InputFile& file, SnapshotInfo& info) {
  const char *group = "Parameters", *name = "InitialConditions:periodic";
  if (!file.has_attribute(group, name)) return std::nullopt;
  const auto number = first_number(file, {{group, name}});
  const std::string text =
      number ? fmt::format("{:g}", *number) : file.text(group, name).value_or("no text or number");
  if (text == "0" || text == "1") return text == "1";
  info.warnings.push_back(
      fmt::format("'{}': {}/{} is {}, which is neither 0 nor 1: it is not used (say --periodic yes "
                  "or no)",
                  info.path, group, name, text));
  return std::nullopt;
}

}  // namespace

Dialect swift_dialect() {
  Dialect dialect;
  dialect.code = Code::swift;
  dialect.name = "SWIFT";
  dialect.is_of = [](const InputFile& file) {
    const bool has_units =
        file.has("Units") && file.has_attribute("Units", "Unit length in cgs (U_L)");
    const bool may_have_h = file.has("Header") && file.has_attribute("Header", "HubbleParam");
    return file.text("Header", "Code") == "SWIFT" || file.has("Policy") ||
           (has_units && !may_have_h);
  };
  dialect.read = read_swift;
  dialect.read_periodic = read_periodic_swift;
  dialect.read_version = [](const InputFile& file) {
    return file.text("Code", "Code Version").value_or("");
  };
  dialect.times = {{"Cosmology", "Scale-factor"}};
  return dialect;
}

}  // namespace zhalo::io
