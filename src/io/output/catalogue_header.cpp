#include "src/io/output/catalogue_header.hpp"

#include <fmt/format.h>

#include <cmath>

namespace zhalo::io {

using hdf5::OutputFile;

void write_cosmology_and_units(OutputFile& file, const std::string& group,
                               const SnapshotInfo& snapshot) {
  const Cosmology& cosmology = snapshot.cosmology;
  file.attribute(group, "Omega0", cosmology.omega_matter.value_or(0));
  file.attribute(group, "OmegaLambda", cosmology.omega_lambda.value_or(0));
  file.attribute(group, "OmegaBaryon", cosmology.omega_baryon.value_or(0));
  file.attribute(group, "HubbleParam", cosmology.hubble.value_or(1));
  file.attribute(group, "UnitLength_in_cm", snapshot.units.length_in_cm);
  file.attribute(group, "UnitMass_in_g", snapshot.units.mass_in_g);
  file.attribute(group, "UnitVelocity_in_cm_per_s", snapshot.units.velocity_in_cm_per_s);
  const Vec3d box = snapshot.box_length.value_or(Vec3d{});
  if (box[0] == box[1] && box[1] == box[2]) {
    file.attribute(group, "BoxSize", box[0]);
  } else {
    file.attribute(group, "BoxSize", std::vector<double>{box[0], box[1], box[2]});
  }
}

namespace {

std::string velocity_name(const Units& units) {
  const double km_per_s = units.velocity_in_cm_per_s / 1e5;
  return std::abs(km_per_s - 1) < 1e-6 ? "km/s" : fmt::format("{:.6g} km/s", km_per_s);
}

std::string power_of(const std::string& unit, double power) {
  return power == 1 ? unit : fmt::format("({})^{:g}", unit, power);
}

/// "Mpc/h", "(1e10 Msun/h) (Mpc/h)^-3"; empty for what has no unit.
std::string unit_text(const Units& units, const Meaning& meaning) {
  std::string text;
  const auto add = [&](const std::string& unit, double power) {
    if (power == 0) return;
    if (!text.empty()) text += " ";
    text += power_of(unit, power);
  };
  const bool alone = (meaning.mass != 0) + (meaning.length != 0) + (meaning.velocity != 0) == 1;
  add(alone ? units.mass_name() : fmt::format("({})", units.mass_name()), meaning.mass);
  add(units.length_name(), meaning.length);
  add(velocity_name(units), meaning.velocity);
  return text;
}

}  // namespace

void write_meaning(OutputFile& file, const std::string& dataset, const Units& units,
                   const Meaning& meaning) {
  const double to_cgs = std::pow(units.length_in_cm, meaning.length) *
                        std::pow(units.mass_in_g, meaning.mass) *
                        std::pow(units.velocity_in_cm_per_s, meaning.velocity);
  file.attribute(dataset, "a_scaling", meaning.a);
  file.attribute(dataset, "h_scaling", units.h_free ? 0 : meaning.h);
  file.attribute(dataset, "length_scaling", meaning.length);
  file.attribute(dataset, "mass_scaling", meaning.mass);
  file.attribute(dataset, "velocity_scaling", meaning.velocity);
  file.attribute(dataset, "to_cgs", to_cgs);
  file.attribute(dataset, "Unit", unit_text(units, meaning));
  file.attribute(dataset, "Description", meaning.text);
}

void write_common_header(OutputFile& file, Index num_files, const SnapshotInfo& snapshot) {
  file.make_group("Header");
  file.attribute("Header", "NumFiles", static_cast<int>(num_files));
  file.attribute("Header", "Time", snapshot.cosmology.scale_factor.value_or(1));
  file.attribute("Header", "Redshift", snapshot.cosmology.redshift.value_or(0));
  file.attribute("Header", "FlagDoubleprecision", 1);
  write_cosmology_and_units(file, "Header", snapshot);
}

void write_notes(OutputFile& file, const std::string& object, const std::vector<Note>& notes) {
  for (const Note& note : notes)
    std::visit([&](const auto& value) { file.attribute(object, note.name, value); }, note.value);
}

void make_parameters(OutputFile& file) {
  file.make_group("Parameters");
  file.attribute("Parameters", "Code", std::string("zhalo"));
  file.attribute("Parameters", "CodeVersion", std::string(ZHALO_VERSION));
}

void write_origin(OutputFile& file, const SnapshotInfo& snapshot) {
  const std::string group = "Parameters";
  make_parameters(file);
  file.attribute(group, "Snapshot", snapshot.files.front());
  file.attribute(group, "SnapshotCode", name_of(snapshot.code));
  file.attribute(group, "SnapshotNumber", snapshot.number);
  file.attribute(group, "LengthUnit", snapshot.units.length_name());
  file.attribute(group, "MassUnit", snapshot.units.mass_name());
  write_cosmology_and_units(file, group, snapshot);
}

void write_run(OutputFile& file, const SnapshotInfo& snapshot, const RunRecord& run) {
  write_origin(file, snapshot);
  const std::string group = "Parameters";
  file.attribute(group, "LinkingLength", run.linking_length);
  file.attribute(group, "LinkingLengthRatio", run.linking_ratio);
  file.attribute(group, "MeanSeparation", run.mean_separation);
  file.attribute(group, "MeanSeparationRule", run.mean_separation_rule);
  file.attribute(group, "MinMembers", run.min_members);
  file.attribute(group, "LinkedTypes", run.linked_types);
  if (!run.attached_types.empty()) {
    file.attribute(group, "AttachedTypes", run.attached_types);
    file.attribute(group, "AttachRadius", run.attach_radius);
    file.attribute(group, "MinCounts", std::string(run.only_linked_count ? "linkers" : "all"));
  }
  file.attribute(group, "Periodic", run.periodic ? 1 : 0);
}

}  // namespace zhalo::io
