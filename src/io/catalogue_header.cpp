#include "src/io/catalogue_header.hpp"

#include <fmt/format.h>

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

/// Readers demand all of these, also of runs without cosmology: then there is no expansion and no h.
void write_cosmology_and_units(OutputFile& file, const std::string& group, const SnapshotInfo& snapshot) {
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

}  // namespace

void write_meaning(OutputFile& file, const std::string& dataset, const Units& units, const Meaning& meaning) {
  double to_cgs = 1;
  if (meaning.length > 0) to_cgs = units.length_in_cm;
  if (meaning.mass > 0) to_cgs = units.mass_in_g;
  if (meaning.velocity > 0) to_cgs = units.velocity_in_cm_per_s;
  file.attribute(dataset, "a_scaling", meaning.a);
  file.attribute(dataset, "h_scaling", units.h_free ? 0 : meaning.h);
  file.attribute(dataset, "length_scaling", meaning.length);
  file.attribute(dataset, "mass_scaling", meaning.mass);
  file.attribute(dataset, "velocity_scaling", meaning.velocity);
  file.attribute(dataset, "to_cgs", to_cgs);
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

void write_run(OutputFile& file, const SnapshotInfo& snapshot, const RunRecord& run) {
  const std::string group = "Parameters";
  file.make_group(group);
  file.attribute(group, "Code", std::string("zhalo"));
  file.attribute(group, "CodeVersion", std::string(ZHALO_VERSION));
  file.attribute(group, "Snapshot", snapshot.files.front());
  file.attribute(group, "SnapshotCode", name_of(snapshot.code));
  file.attribute(group, "SnapshotNumber", snapshot.number);
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
  file.attribute(group, "LengthUnit", snapshot.units.length_name());
  file.attribute(group, "MassUnit", snapshot.units.mass_name());
  write_cosmology_and_units(file, group, snapshot);
}

}  // namespace zhalo::io
