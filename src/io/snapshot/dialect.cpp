#include "src/io/snapshot/dialect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::InputFile;

// ---- what kind of file ----

void check_is_snapshot(const InputFile& file) {
  const std::string output = file.text("Header", "OutputType").value_or("");
  for (const char* group : {"Group", "Subhalo", "FOF", "Groups"}) {
    if (!file.has(group)) continue;
    throw InputError(
        fmt::format("'{}' is a group catalogue (it has /{}), not a snapshot: give the snapshot it "
                    "was made from (for knn --query: copy its GroupPos to /Coordinates of another "
                    "file)",
                    file.path(), group));
  }
  if (output == "FOF" || output == "LineOfSight") {
    throw InputError(
        fmt::format("'{}' is SWIFT output of type {}, not a snapshot", file.path(), output));
  }
  if (!file.has("Header")) {
    throw InputError(
        fmt::format("'{}' has no /Header: it is no snapshot of a code that zhalo reads ({})",
                    file.path(), names_of_codes()));
  }
}

// ---- counts ----

namespace {

/// 64-bit totals, or 32 low bits with a second attribute for the high ones.
void read_totals(const InputFile& file, HeaderCounts& counts) {
  if (const auto wide = file.integers("Header", "TotalNumberOfParticles")) {
    counts.total = *wide;
    return;
  }
  counts.total = file.integers("Header", "NumPart_Total").value_or(std::vector<Index>{});
  const auto high = file.integers("Header", "NumPart_Total_HighWord");
  const bool narrow = file.attribute_bytes("Header", "NumPart_Total") == 4;
  if (narrow) {
    for (Index& total : counts.total) total &= 0xffffffff;  // some codes store it as int32
  }
  // Some codes write no high word, or one of zeros.
  counts.total_may_lack_high_bits = narrow;
  if (!narrow || !high) return;
  for (std::size_t type = 0; type < std::min(high->size(), counts.total.size()); ++type) {
    counts.total[type] += (*high)[type] << 32;
  }
}

/// As HeaderCounts::initial_masses: SWIFT states them in its internal unit.
std::vector<double> read_initial_masses(const InputFile& file) {
  if (!file.holds_numbers("Header", "InitialMassTable")) return {};
  auto masses = file.reals("Header", "InitialMassTable").value_or(std::vector<double>{});
  const std::string unit = "Unit mass in cgs (U_M)";
  const auto internal = positive(first_number(file, {{"InternalCodeUnits", unit}}));
  const auto stated = positive(first_number(file, {{"Units", unit}}));
  const double factor = internal && stated ? *internal / *stated : 1;
  for (double& mass : masses) mass *= factor;
  return masses;
}

/// As HeaderCounts::constants.
std::array<double, 5> read_constants(const InputFile& file) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto constant = [&](const char* name) {
    return first_number(file, {{"Header", name}, {"Parameters", name}, {"Cosmology", name}})
        .value_or(unknown);
  };
  std::vector<double> box = file.reals("Header", "BoxSize").value_or(std::vector<double>{unknown});
  if (box.size() != 3) box.assign(3, box.front());
  return {box[0], box[1], box[2], constant("HubbleParam"), constant("Omega0")};
}

}  // namespace

HeaderCounts read_counts(const InputFile& file, AttributePaths times) {
  HeaderCounts counts;
  counts.in_this_file = file.integers("Header", "NumPart_ThisFile").value_or(std::vector<Index>{});
  counts.mass_table = file.reals("Header", "MassTable").value_or(std::vector<double>{});
  counts.initial_masses = read_initial_masses(file);
  read_totals(file, counts);
  if (counts.in_this_file.empty() && counts.total.empty()) {
    throw InputError(
        fmt::format("'{}' states no number of particles (Header/NumPart_ThisFile, NumPart_Total): "
                    "it is no snapshot",
                    file.path()));
  }
  const std::size_t num_types = std::max(counts.in_this_file.size(), counts.total.size());
  counts.num_types = static_cast<int>(num_types);
  for (auto* column : {&counts.in_this_file, &counts.total}) {
    if (!column->empty()) column->resize(num_types);
  }
  counts.mass_table.resize(num_types);
  counts.num_files =
      file.integers("Header", "NumFilesPerSnapshot").value_or(std::vector<Index>{1}).front();
  if (counts.num_files == 0) counts.num_files = 1;  // this one
  times.emplace_back("Header", "Redshift");
  counts.time = first_number(file, times);
  if (counts.time && std::isnan(*counts.time))
    counts.time.reset();  // it would not be equal to itself
  counts.constants = read_constants(file);
  return counts;
}

// ---------------------------------------------------------------- what codes share

Dialect dialect_of(Code code) {
  validate_enumerator(code, Code::gizmo, "the code of a snapshot");
  const std::vector<Dialect> all = dialects();
  return *std::find_if(all.begin(), all.end(),
                       [&](const Dialect& dialect) { return dialect.code == code; });
}

std::string name_of(Code code) { return dialect_of(code).name; }

std::string names_of_codes() {
  std::string names;
  for (const Dialect& dialect : dialects())
    names += names.empty() ? dialect.name : fmt::format(", {}", dialect.name);
  return names;
}

namespace {

/// `value` replaces `field` if it holds something.
template <class T>
void overlay(std::optional<T>& field, const std::optional<T>& value) {
  if (value) field = value;
}

std::optional<Vec3d> read_box(const InputFile& file) {
  const auto size = file.reals("Header", "BoxSize");
  if (!size) return std::nullopt;
  Vec3d box{{size->front(), size->front(), size->front()}};
  if (size->size() != 1 && size->size() != 3) return std::nullopt;
  if (size->size() == 3) box = {{(*size)[0], (*size)[1], (*size)[2]}};
  for (const double length : box.at) {
    if (!(length > 0) || !std::isfinite(length)) return std::nullopt;
  }
  return box;
}

/// A box that is there and cannot be used must not go unnoticed: the search would not be periodic.
/// 0 is what codes write for a box without ends.
void warn_of_box(const InputFile& file, SnapshotInfo& info) {
  if (!file.has_attribute("Header", "BoxSize") || read_box(file)) return;
  const auto size = file.reals("Header", "BoxSize").value_or(std::vector<double>{});
  const bool has_no_ends =
      std::all_of(size.begin(), size.end(), [](double length) { return length == 0; });
  if (has_no_ends && (size.size() == 1 || size.size() == 3)) return;
  info.warnings.push_back(fmt::format(
      "'{}': Header/BoxSize is {}, which is no size of a box: it is not used (give --box-size)",
      info.path, size.empty() ? "empty" : fmt::format("{:g}", fmt::join(size, ", "))));
}

/// A cube in place of a known box changes densities and separations.
void note_other_box(double length, SnapshotInfo& info) {
  if (!info.box_length) return;
  const Vec3d& box = *info.box_length;
  if (box[0] == length && box[1] == length && box[2] == length) return;
  info.notes.push_back(
      fmt::format("The box is the cube that was asked for. The file's own is {:.10g} x {:.10g} x "
                  "{:.10g}.",
                  box[0], box[1], box[2]));
}

bool is_time(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

/// A time that is there and cannot be used must not go unnoticed: velocities and units follow from
/// it.
void warn_of_time(const InputFile& file, const Dialect& dialect, SnapshotInfo& info) {
  for (const auto& [group, name] : dialect.times) {
    if (!file.has_attribute(group, name)) continue;
    const auto value = first_number(file, {{group, name}});
    if (is_time(value)) return;
    info.warnings.push_back(
        fmt::format("'{}': {}/{} is {}, which is no time or scale factor: it is not used",
                    info.path, group, name, value ? fmt::format("{:g}", *value) : "no number"));
  }
}

}  // namespace

void overlay(Cosmology& cosmology, const Cosmology& over) {
  overlay(cosmology.scale_factor, over.scale_factor);
  overlay(cosmology.redshift, over.redshift);
  overlay(cosmology.hubble, over.hubble);
  overlay(cosmology.omega_matter, over.omega_matter);
  overlay(cosmology.omega_lambda, over.omega_lambda);
  overlay(cosmology.omega_baryon, over.omega_baryon);
  overlay(cosmology.omega_cdm, over.omega_cdm);
  if (over.scale_factor || over.omega_matter || over.omega_lambda) cosmology.hubble_ratio.reset();
  overlay(cosmology.hubble_ratio, over.hubble_ratio);
}

void forget_cosmology(const InputFile& file, SnapshotInfo& info) {
  info.cosmological = false;
  const auto time = first_number(file, {{"Header", "Time"}});
  if (is_time(time)) info.time = time;
  info.cosmology = {};
  info.cosmology.critical_density_source = "the run is not cosmological";
}

namespace {

/// What a file states of its units; empty where that is no unit.
struct StatedUnits {
  std::optional<double> length_in_cm, mass_in_g, velocity_in_cm_per_s;
};

/// By SWIFT's names. One that is no unit must not go unnoticed.
StatedUnits stated_by_swift(const InputFile& file, const SnapshotOverrides& overrides,
                            SnapshotInfo& info) {
  const auto value = [&](const char* name, const std::optional<double>& given) {
    const auto unit = positive(first_real(file, {"Units"}, {name}));
    if (!unit && !given)
      info.warnings.push_back(
          fmt::format("'{}': Units/{} is no positive number: it is not used, and the unit that it "
                      "concerns is the usual one (kpc or, if the mass in the box fits it, Mpc; "
                      "1e10 Msun; km/s)",
                      info.path, name));
    return unit;
  };
  StatedUnits stated;
  stated.length_in_cm = value("Unit length in cgs (U_L)", overrides.unit_length_in_cm);
  stated.mass_in_g = value("Unit mass in cgs (U_M)", overrides.unit_mass_in_g);
  const auto time = value("Unit time in cgs (U_t)", overrides.unit_velocity_in_cm_per_s);
  if (stated.length_in_cm && time) stated.velocity_in_cm_per_s = *stated.length_in_cm / *time;
  return stated;
}

StatedUnits stated_by_gadget(const InputFile& file) {
  const auto value = [&](const char* a, const char* b) {
    return positive(first_real(file, {"Header", "Parameters", "Units"}, {a, b}));
  };
  return {value("UnitLength_in_cm", "UnitLength_In_CGS"), value("UnitMass_in_g", "UnitMass_In_CGS"),
          value("UnitVelocity_in_cm_per_s", "UnitVelocity_In_CGS")};
}

/// GIZMO writes its units over h: those of "Mpc/h", not of "Mpc".
void take_out_h(const InputFile& file, StatedUnits& stated) {
  const auto hubble = positive(first_real(file, {"Header"}, {"HubbleParam"}));
  if (!hubble) return;
  if (stated.length_in_cm) *stated.length_in_cm *= *hubble;
  if (stated.mass_in_g) *stated.mass_in_g *= *hubble;
}

}  // namespace

void read_units(const InputFile& file, const SnapshotOverrides& overrides, SnapshotInfo& info) {
  Units& units = info.units;
  const bool as_swift =
      units.h_free && file.has("Units") && file.has_attribute("Units", "Unit length in cgs (U_L)");
  StatedUnits stated = as_swift ? stated_by_swift(file, overrides, info) : stated_by_gadget(file);
  if (!units.h_free && dialect_of(info.code).states_units_with_h) take_out_h(file, stated);
  units.assumed = !stated.length_in_cm && !overrides.unit_length_in_cm;
  units.length_in_cm = stated.length_in_cm.value_or(cm_per_mpc / 1000);
  units.mass_in_g = stated.mass_in_g.value_or(1e10 * solar_mass_in_g);
  units.velocity_in_cm_per_s = stated.velocity_in_cm_per_s.value_or(1e5);
  units.length_in_cm = overrides.unit_length_in_cm.value_or(units.length_in_cm);
  units.mass_in_g = overrides.unit_mass_in_g.value_or(units.mass_in_g);
  units.velocity_in_cm_per_s =
      overrides.unit_velocity_in_cm_per_s.value_or(units.velocity_in_cm_per_s);
}

void read_conventions(const InputFile& file, const SnapshotOverrides& overrides,
                      SnapshotInfo& info) {
  const std::vector<Dialect> all = dialects();
  const Dialect& dialect =
      *std::find_if(all.begin(), all.end(), [&](const Dialect& any) { return any.is_of(file); });
  info.code = dialect.code;
  info.version = dialect.read_version(file);
  info.box_length = read_box(file);
  if (!overrides.box_length) warn_of_box(file, info);
  if (overrides.box_length) {
    const double length = *overrides.box_length;
    if (length > 0) note_other_box(length, info);
    info.box_length = length > 0 ? std::optional(Vec3d{{length, length, length}}) : std::nullopt;
  }
  info.periodic = dialect.read_periodic(file, info);
  info.cosmology.scale_factor = positive(first_number(file, dialect.times));
  dialect.read(file, overrides, info);
  warn_of_time(file, dialect, info);
}

}  // namespace zhalo::io
