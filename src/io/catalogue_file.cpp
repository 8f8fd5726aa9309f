#include "zhalo/io/catalogue_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/io/hdf5_output.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

constexpr int least_types = 6;  // tools of the GADGET family expect six columns

int num_columns(const SnapshotInfo& snapshot) { return std::max(least_types, static_cast<int>(snapshot.types.size())); }

// ---- attributes ----

/// Powers with which a quantity scales, and what it is.
struct Meaning {
  double a = 0, h = 0, length = 0, mass = 0, velocity = 0;
  std::string text;
};

/// The attributes that GADGET-4 gives its datasets.
void write_meaning(OutputFile& file, const std::string& dataset, const SnapshotInfo& snapshot, const Meaning& meaning) {
  const Units& units = snapshot.units;
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

Meaning of_length(std::string text) { return {.a = 1, .h = -1, .length = 1, .text = std::move(text)}; }
Meaning of_mass(std::string text) { return {.h = -1, .mass = 1, .text = std::move(text)}; }
Meaning of_velocity(double a, std::string text) { return {.a = a, .velocity = 1, .text = std::move(text)}; }
Meaning of_number(std::string text) { return {.text = std::move(text)}; }

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

void write_common_header(OutputFile& file, const Communicator& comm, const SnapshotInfo& snapshot) {
  file.make_group("Header");
  file.attribute("Header", "NumFiles", comm.size());
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
  file.attribute(group, "Periodic", run.periodic ? 1 : 0);
  file.attribute(group, "LengthUnit", snapshot.units.length_name());
  file.attribute(group, "MassUnit", snapshot.units.mass_name());
  write_cosmology_and_units(file, group, snapshot);
}

// ---- the table of groups ----

/// [group][column] of the file from [group][type] of the catalogue.
template <class T>
std::vector<T> spread_types(const std::vector<T>& by_type, const Catalogue& catalogue, const SnapshotInfo& snapshot,
                            const RunRecord& run) {
  const auto columns = static_cast<std::size_t>(num_columns(snapshot));
  const auto num_types = static_cast<std::size_t>(catalogue.num_types);
  const std::size_t shift = num_types == 1 ? static_cast<std::size_t>(run.linked_types.at(0)) : 0;
  std::vector<T> spread(catalogue.length.size() * columns);
  for (std::size_t group = 0; group < catalogue.length.size(); ++group) {
    for (std::size_t type = 0; type < num_types; ++type)
      spread[group * columns + type + shift] = by_type[group * num_types + type];
  }
  return spread;
}

/// For each group and type the members of that type in all groups before. Collective.
std::vector<Index> offsets_by_type(const Communicator& comm, const std::vector<Index>& length_by_type, std::size_t columns) {
  std::vector<Index> running(columns);
  for (std::size_t at = 0; at < length_by_type.size(); ++at) running[at % columns] += length_by_type[at];
  for (Index& offset : running) offset = comm.exclusive_sum(offset);
  std::vector<Index> offsets(length_by_type.size());
  for (std::size_t at = 0; at < offsets.size(); ++at) {
    offsets[at] = running[at % columns];
    running[at % columns] += length_by_type[at];
  }
  return offsets;
}

Span<const double> flat(const std::vector<Vec3d>& vectors) {
  static_assert(sizeof(Vec3d) == 3 * sizeof(double));
  return {vectors.empty() ? nullptr : vectors.front().at, 3 * static_cast<Index>(vectors.size())};
}

/// int32 is what tools expect; int64 if a group anywhere is too large for it.
void write_lengths(OutputFile& file, const std::string& name, const std::vector<Index>& lengths, Index columns, bool wide) {
  if (wide) return file.dataset(name, Span<const Index>(lengths), columns);
  const std::vector<std::int32_t> narrow(lengths.begin(), lengths.end());
  file.dataset(name, Span<const std::int32_t>(narrow), columns);
}

/// What needs the other ranks, computed before anything is written.
struct Table {
  std::vector<Index> length_by_type;
  std::vector<Index> offset_by_type;
  bool wide = false;
};

Table make_table(const Communicator& comm, const Catalogue& catalogue, const SnapshotInfo& snapshot, const RunRecord& run) {
  Table table;
  table.length_by_type = spread_types(catalogue.length_by_type, catalogue, snapshot, run);
  table.offset_by_type = offsets_by_type(comm, table.length_by_type, static_cast<std::size_t>(num_columns(snapshot)));
  const Index longest = catalogue.length.empty() ? 0 : *std::max_element(catalogue.length.begin(), catalogue.length.end());
  table.wide = comm.max(longest) > std::numeric_limits<std::int32_t>::max();
  return table;
}

void write_numbers(OutputFile& file, const Catalogue& catalogue, const SnapshotInfo& snapshot, const Table& table) {
  const Index columns = num_columns(snapshot);
  const auto describe = [&](const char* name, const char* text) { write_meaning(file, name, snapshot, of_number(text)); };
  write_lengths(file, "Group/GroupLen", catalogue.length, 1, table.wide);
  write_lengths(file, "Group/GroupLenType", table.length_by_type, columns, table.wide);
  file.dataset("Group/GroupOffsetType", Span<const Index>(table.offset_by_type), columns);
  file.dataset("Group/GroupOffset", Span<const Index>(catalogue.offset));
  file.dataset("Group/GroupLabel", Span<const Index>(catalogue.label));
  file.dataset("Group/GroupNsubs", Span<const std::int32_t>(std::vector<std::int32_t>(catalogue.length.size(), 0)));
  file.dataset("Group/GroupFirstSub", Span<const std::int32_t>(std::vector<std::int32_t>(catalogue.length.size(), -1)));
  describe("Group/GroupLen", "Number of members");
  describe("Group/GroupLenType", "Number of members by particle type");
  describe("Group/GroupOffsetType", "Members of this type in all groups before this one");
  describe("Group/GroupOffset", "Place of the first member's ID in /IDs/ID, counted over all files");
  describe("Group/GroupLabel", "Smallest index of a member in the order of the snapshot, over all linked types and files");
  describe("Group/GroupNsubs", "Number of subhaloes: none are searched for");
  describe("Group/GroupFirstSub", "First subhalo: -1, none");
}

std::vector<double> scaled(Span<const double> values, double factor) {
  std::vector<double> result(values.begin(), values.end());
  for (double& value : result) value *= factor;
  return result;
}

void write_properties(OutputFile& file, const Catalogue& catalogue, const SnapshotInfo& snapshot, const RunRecord& run) {
  const auto write = [&](const std::string& name, Span<const double> values, Index columns, const Meaning& meaning) {
    file.dataset("Group/" + name, values, columns);
    write_meaning(file, "Group/" + name, snapshot, meaning);
  };
  const double a = snapshot.cosmology.scale_factor.value_or(1);
  const auto mass_by_type = spread_types(catalogue.mass_by_type, catalogue, snapshot, run);
  const auto code_velocity = scaled(flat(catalogue.velocity), a);
  write("GroupMass", catalogue.mass, 1, of_mass("Mass of all members"));
  write("GroupMassType", mass_by_type, num_columns(snapshot), of_mass("Mass by particle type"));
  write("GroupPos", flat(catalogue.centre), 3, of_length("Centre of mass"));
  write("GroupCM", flat(catalogue.centre), 3, of_length("Centre of mass"));
  write("GroupVel", code_velocity, 3, of_velocity(-1, "Mass-weighted mean peculiar velocity times the scale factor"));
  write("GroupVelPeculiar", flat(catalogue.velocity), 3, of_velocity(0, "Mass-weighted mean peculiar velocity"));
  write("GroupVelDispersion", catalogue.velocity_dispersion, 1,
        of_velocity(0, "Mass-weighted dispersion of peculiar velocities along one axis"));
  write("GroupInertiaRadius", catalogue.inertia_radius, 1, of_length("Mass-weighted rms distance from the centre of mass"));
  write("GroupExtentRadius", catalogue.extent_radius, 1, of_length("Largest distance of a member from the centre of mass"));
}

void write_group_header(OutputFile& file, const Communicator& comm, const Catalogue& catalogue, const SnapshotInfo& snapshot,
                        Index num_ids_total) {
  write_common_header(file, comm, snapshot);
  const auto count = [&](const char* name, Index value) { file.attribute("Header", name, value); };
  count("Ngroups_ThisFile", static_cast<Index>(catalogue.length.size()));
  count("Ngroups_Total", catalogue.num_groups_total);
  for (const char* name : {"Nsubgroups_ThisFile", "Nsubgroups_Total", "Nsubhalos_ThisFile", "Nsubhalos_Total"}) count(name, 0);
  count("Nids_Total", num_ids_total);
}

}  // namespace

void write_catalogue(StagedFiles& files, const Catalogue& catalogue, const SnapshotInfo& snapshot,
                     Span<const std::uint64_t> member_ids, const RunRecord& run) {
  const Communicator& comm = files.comm();
  const std::string number = fmt::format("{:03d}", snapshot.number);
  const std::string prefix = fmt::format("groups_{0}/fof_subhalo_tab_{0}", number);
  files.make_directory("groups_" + number);
  const Table table = make_table(comm, catalogue, snapshot, run);
  const Index num_ids = comm.sum(member_ids.size());
  comm.together([&] {
    const std::string path = files.stage_numbered(prefix);
    OutputFile file(path, fmt::format("{}/{}.{}.hdf5", files.directory(), prefix, comm.rank()));
    write_group_header(file, comm, catalogue, snapshot, num_ids);
    file.attribute("Header", "Nids_ThisFile", member_ids.size());
    write_run(file, snapshot, run);
    file.make_group("Group");
    file.attribute("Group", "GroupFOFLinkingLength", run.linking_length);
    write_numbers(file, catalogue, snapshot, table);
    write_properties(file, catalogue, snapshot, run);
    file.make_group("Subhalo");
    file.make_group("IDs");
    file.dataset("IDs/ID", member_ids);
    file.close();
  });
}

namespace {

std::string membership_prefix(const SnapshotInfo& snapshot) { return fmt::format("membership_{:03d}", snapshot.number); }

/// Particles by type in the ranges of one rank.
std::vector<Index> counts_of(const std::vector<TypeRange>& ranges, const SnapshotInfo& snapshot) {
  std::vector<Index> counts(snapshot.types.size());
  for (const auto& range : ranges) counts.at(static_cast<std::size_t>(range.type)) += range.count;
  return counts;
}

void write_ranges(OutputFile& file, const Membership& membership) {
  Index done = 0;
  for (const auto& range : membership.ranges) {
    const std::string group = fmt::format("PartType{}", range.type);
    file.make_group(group);
    file.attribute(group, "FirstParticle", range.first);
    file.dataset(group + "/GroupNr", membership.group_of.subspan(done, range.count));
    if (!membership.id.empty()) file.dataset(group + "/ParticleIDs", membership.id.subspan(done, range.count));
    done += range.count;
  }
}

}  // namespace

void write_membership(StagedFiles& files, const Membership& membership, const SnapshotInfo& snapshot, const RunRecord& run) {
  const Communicator& comm = files.comm();
  const std::string prefix = membership_prefix(snapshot);
  const std::vector<Index> counts = counts_of(membership.ranges, snapshot);
  std::vector<Index> totals = counts;
  comm.sum_in_place(totals);
  comm.together([&] {
    const std::string path = files.stage_numbered(prefix);
    OutputFile file(path, fmt::format("{}/{}.{}.hdf5", files.directory(), prefix, comm.rank()));
    write_common_header(file, comm, snapshot);
    file.attribute("Header", "NumPart_ThisFile", counts);
    file.attribute("Header", "NumPart_Total", totals);
    write_run(file, snapshot, run);
    write_ranges(file, membership);
    file.close();
  });
}

void retire_membership(StagedFiles& files, const SnapshotInfo& snapshot) { files.retire_numbered(membership_prefix(snapshot)); }

}  // namespace zhalo::io
