#include "zhalo/io/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/core/validate.hpp"
#include "src/io/snapshot/dialect.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

namespace {

bool near(double a, double b) { return std::abs(a / b - 1) < 2e-3; }

}  // namespace

std::string Units::length_name() const {
  const char* per_h = h_free ? "" : "/h";
  if (near(length_in_cm, cm_per_mpc / 1e6)) return fmt::format("pc{}", per_h);
  if (near(length_in_cm, cm_per_mpc / 1000)) return fmt::format("kpc{}", per_h);
  if (near(length_in_cm, cm_per_mpc)) return fmt::format("Mpc{}", per_h);
  return fmt::format("{:.6g} cm{}", length_in_cm, per_h);
}

std::string Units::mass_name() const {
  const char* per_h = h_free ? "" : "/h";
  const double suns = mass_in_g / solar_mass_in_g;
  const double power = std::round(std::log10(suns));
  if (near(suns, 1)) return fmt::format("Msun{}", per_h);
  if (near(suns, std::pow(10, power))) return fmt::format("1e{:.0f} Msun{}", power, per_h);
  return fmt::format("{:.6g} g{}", mass_in_g, per_h);
}

void ColumnFault::check() const {
  if (message.empty()) return;
  if (of_file) throw FileError(message);
  throw InputError(message);
}

Index SnapshotInfo::num_total() const {
  Index total = 0;
  for (const auto& type : types) total += type.count;
  return total;
}

namespace {

std::string text_of(const TypeSummary& type, const Units& units) {
  if (!type.has_coordinates) return fmt::format("{}, no Coordinates", type.count);
  const char* precision = type.double_coordinates ? "float64" : "float32";
  const std::string mass = type.uniform_mass
                               ? fmt::format("mass {:.9g} x {} each (from {})", *type.uniform_mass,
                                             units.mass_name(), type.mass_source)
                               : fmt::format("masses from {}", type.mass_source);
  std::string missing;
  if (!type.has_velocities) missing += ", no velocities";
  if (!type.has_ids) missing += ", no ids";
  if (type.coordinates_fault) missing += ", unreadable positions";
  if (type.velocities_fault) missing += ", unreadable velocities";
  if (type.masses_fault) missing += ", unreadable masses";
  if (type.ids_fault) missing += ", unreadable ids";
  return fmt::format("{}, {} positions, {}{}", type.count, precision, mass, missing);
}

std::string text_of_box(const SnapshotInfo& info) {
  if (!info.box_length) return "unknown size";
  const Vec3d box = *info.box_length;
  const std::string size = box[0] == box[1] && box[1] == box[2]
                               ? fmt::format("{:.15g}", box[0])
                               : fmt::format("{:.15g} x {:.15g} x {:.15g}", box[0], box[1], box[2]);
  const char* periodic = !info.periodic ? "" : *info.periodic ? ", periodic" : ", not periodic";
  return fmt::format("{} {}{}", size, info.units.length_name(), periodic);
}

std::string text_of(const SnapshotInfo& info, const Units& units) {
  return fmt::format("length {}{}, mass {}, velocity {:.6g} km/s{}", units.length_name(),
                     info.cosmological ? " (comoving)" : "", units.mass_name(),
                     units.velocity_in_cm_per_s / 1e5,
                     units.assumed ? " (assumed: the file states none)" : "");
}

std::string text_of_cosmology(const SnapshotInfo& info) {
  const Cosmology& cosmology = info.cosmology;
  std::string text;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    // GADGET's last redshift is often 2e-16.
    if (value)
      text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name,
                          std::abs(*value) < 1e-12 ? 0 : *value);
  };
  add("a", cosmology.scale_factor);
  add("z", cosmology.redshift);
  add("h", cosmology.hubble);
  add("Omega_m", cosmology.omega_matter);
  add("Omega_Lambda", cosmology.omega_lambda);
  add("Omega_b", cosmology.omega_baryon);
  add("Omega_cdm", cosmology.omega_cdm);
  if (!text.empty()) return text;
  return info.time ? fmt::format("none, the time is {:.6g}", *info.time) : "none";
}

}  // namespace

std::string describe(const SnapshotInfo& info) {
  std::string table;
  const auto line = [&](const std::string& name, const std::string& value) {
    table += fmt::format("{:<12} {}\n", name, value);
  };
  line("Snapshot", info.path);
  line("Code", info.version.empty() ? name_of(info.code)
                                    : fmt::format("{} {}", name_of(info.code), info.version));
  line("Files", info.files.size() == 1
                    ? "1"
                    : fmt::format("{}, the first is {}", info.files.size(), info.files.front()));
  for (std::size_t type = 0; type < info.types.size(); ++type) {
    if (info.types[type].count > 0)
      line(fmt::format("Type {}", type), text_of(info.types[type], info.units));
  }
  if (info.num_total() == 0) line("Particles", "none");
  line("Box", text_of_box(info));
  line("Units", text_of(info, info.units));
  const bool any = std::any_of(info.types.begin(), info.types.end(),
                               [](const TypeSummary& type) { return type.has_velocities; });
  line("Velocities", !any ? "none"
                     : info.velocity_factor == 1
                         ? "peculiar"
                         : fmt::format("peculiar = stored x {:.6g}", info.velocity_factor));
  line("Cosmology", text_of_cosmology(info));
  if (info.cosmology.critical_density) {
    line("rho_crit(z=0)", fmt::format("{:.9g} ({})", *info.cosmology.critical_density,
                                      info.cosmology.critical_density_source));
  }
  for (const auto& note : info.notes) line("Note", note);
  return table;
}

Box simulation_box(const SnapshotInfo& info, Periodicity periodicity) {
  validate_enumerator(periodicity, Periodicity::no, "the periodicity");
  const bool automatic = info.periodic.value_or(info.box_length.has_value());
  const bool periodic =
      periodicity == Periodicity::yes || (periodicity == Periodicity::automatic && automatic);
  if (!periodic) return Box::unbounded();
  if (!info.box_length) {
    throw InputError(
        fmt::format("'{}' does not state its box size, which a periodic run needs: give the box "
                    "size, or search without periodicity",
                    info.path));
  }
  Box box;
  box.length = *info.box_length;
  box.periodic = {{true, true, true}};
  return box;
}

}  // namespace zhalo::io
