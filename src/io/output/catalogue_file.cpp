#include "zhalo/io/catalogue_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "src/comm/agreement.hpp"
#include "src/io/output/file_set.hpp"
#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {
namespace {

/// This rank's rows in the types and units of the files. Holds what differs from the catalogue, and
/// views the rest of it: the catalogue must outlive it.
class GroupTable {
 public:
  /// Collective.
  GroupTable(const Communicator& comm, const Catalogue& catalogue, const SnapshotInfo& snapshot,
             const RunRecord& run);
  ~GroupTable() = default;
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  /// `placement` is that of the groups.
  std::vector<FileColumn> columns(const Placement& placement) const;

 private:
  void append_numbers(std::vector<FileColumn>& columns, const Placement& placement) const;
  void append_properties(std::vector<FileColumn>& columns, const Placement& placement) const;
  hdf5::DatasetView lengths(const std::vector<Index>& wide, const std::vector<std::int32_t>& narrow,
                            Index columns) const;

  const Catalogue* catalogue_;
  Index num_columns_;  // of types
  bool wide_ = false;  // some group anywhere is too large for int32
  std::vector<Index> length_by_type_;
  std::vector<Index> offset_by_type_;
  std::vector<std::int32_t> narrow_length_;
  std::vector<std::int32_t> narrow_length_by_type_;
  std::vector<std::int32_t> num_subs_;
  std::vector<std::int32_t> first_sub_;
  std::vector<double> mass_by_type_;
  std::vector<std::vector<double>> properties_;  // by halo_columns
};

using hdf5::cells_of;

constexpr int min_types = 6;  // tools of the GADGET family expect six columns

/// [group][column] of the file from [group][type] of the catalogue. A single type stands in the
/// column of its number.
template <class T>
std::vector<T> spread_types(const std::vector<T>& by_type, const Catalogue& catalogue,
                            Index num_columns, const RunRecord& run) {
  const auto columns = static_cast<std::size_t>(num_columns);
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
std::vector<Index> offsets_by_type(const Communicator& comm,
                                   const std::vector<Index>& length_by_type, Index num_columns) {
  const auto columns = static_cast<std::size_t>(num_columns);
  std::vector<Index> running(columns);
  for (std::size_t at = 0; at < length_by_type.size(); ++at)
    running[at % columns] += length_by_type[at];
  for (Index& offset : running) offset = comm.exclusive_sum(offset);
  std::vector<Index> offsets(length_by_type.size());
  for (std::size_t at = 0; at < offsets.size(); ++at) {
    offsets[at] = running[at % columns];
    running[at % columns] += length_by_type[at];
  }
  return offsets;
}

/// One property of all rows, as the file has it.
std::vector<double> column_of(const Catalogue& catalogue, const HaloColumn& column, double factor) {
  const bool is_number = std::holds_alternative<double HaloProperties::*>(column.property);
  std::vector<double> values;
  values.reserve(catalogue.properties.size() * (is_number ? 1 : 3));
  const auto append = [&](double value) { values.push_back(value * factor); };
  for (const HaloProperties& row : catalogue.properties) {
    if (const auto* number = std::get_if<double HaloProperties::*>(&column.property)) {
      append(row.**number);
    } else {
      for (const double component : (row.*std::get<1>(column.property)).at) append(component);
    }
  }
  return values;
}

Index longest(const Catalogue& catalogue) {
  return catalogue.length.empty()
             ? 0
             : *std::max_element(catalogue.length.begin(), catalogue.length.end());
}

GroupTable::GroupTable(const Communicator& comm, const Catalogue& catalogue,
                       const SnapshotInfo& snapshot, const RunRecord& run)
    : catalogue_(&catalogue),
      num_columns_(std::max(min_types, static_cast<int>(snapshot.types.size()))),
      wide_(comm.max(longest(catalogue)) > std::numeric_limits<std::int32_t>::max()),
      length_by_type_(spread_types(catalogue.length_by_type, catalogue, num_columns_, run)),
      offset_by_type_(offsets_by_type(comm, length_by_type_, num_columns_)),
      num_subs_(catalogue.length.size(), 0),
      first_sub_(catalogue.length.size(), -1),
      mass_by_type_(spread_types(catalogue.mass_by_type, catalogue, num_columns_, run)) {
  const double scale_factor = snapshot.cosmology.scale_factor.value_or(1);
  for (const HaloColumn& column : halo_columns) {
    properties_.push_back(
        column_of(catalogue, column, std::pow(scale_factor, column.unit.scale_factor)));
  }
  if (wide_) return;
  narrow_length_.assign(catalogue.length.begin(), catalogue.length.end());
  narrow_length_by_type_.assign(length_by_type_.begin(), length_by_type_.end());
}

/// int32 is what tools expect; int64 if a group anywhere is too large for it.
hdf5::DatasetView GroupTable::lengths(const std::vector<Index>& wide,
                                      const std::vector<std::int32_t>& narrow,
                                      Index columns) const {
  return wide_ ? cells_of(Span<const Index>(wide), columns)
               : cells_of(Span<const std::int32_t>(narrow), columns);
}

std::vector<FileColumn> GroupTable::columns(const Placement& placement) const {
  std::vector<FileColumn> columns;
  append_numbers(columns, placement);
  append_properties(columns, placement);
  return columns;
}

void GroupTable::append_numbers(std::vector<FileColumn>& columns,
                                const Placement& placement) const {
  const auto append = [&](const std::string& name, const hdf5::DatasetView& cells,
                          std::string text) {
    columns.push_back({"Group/" + name, cells, &placement, Meaning{.text = std::move(text)}});
  };
  append("GroupLen", lengths(catalogue_->length, narrow_length_, 1), "Number of members");
  append("GroupLenType", lengths(length_by_type_, narrow_length_by_type_, num_columns_),
         "Number of members by particle type");
  append("GroupOffsetType", cells_of(Span<const Index>(offset_by_type_), num_columns_),
         "Members of this type in all groups before this one");
  append("GroupOffset", cells_of(Span<const Index>(catalogue_->offset)),
         "Index of the first member's ID in /IDs/ID, counted over all files");
  append("GroupLabel", cells_of(Span<const Index>(catalogue_->label)),
         "Smallest index of a linked member in the order of the snapshot, over all linked types "
         "and files");
  append("GroupNsubs", cells_of(Span<const std::int32_t>(num_subs_)),
         "Number of subhaloes: none are searched for");
  append("GroupFirstSub", cells_of(Span<const std::int32_t>(first_sub_)),
         "First subhalo: -1, none");
}

void GroupTable::append_properties(std::vector<FileColumn>& columns,
                                   const Placement& placement) const {
  const auto append = [&](const char* name, Span<const double> values, Index width,
                          Meaning meaning) {
    columns.push_back(
        {std::string("Group/") + name, cells_of(values, width), &placement, std::move(meaning)});
  };
  append("GroupMassType", mass_by_type_, num_columns_,
         meaning_of({.mass = 1}, "Mass by particle type"));
  for (std::size_t i = 0; i < properties_.size(); ++i) {
    const HaloColumn& column = halo_columns[i];
    if (column.unit.velocity != 0 && !catalogue_->has_velocities) continue;
    const bool is_vector = std::holds_alternative<Vec3d HaloProperties::*>(column.property);
    append(column.dataset, properties_[i], is_vector ? 3 : 1, meaning_of(column.unit, column.text));
  }
}

using hdf5::OutputFile;

/// What the writer would otherwise find out halfway, on one rank only.
void check_types(const Catalogue& catalogue, const SnapshotInfo& snapshot, const RunRecord& run) {
  const auto num_types = static_cast<int>(snapshot.types.size());
  if (catalogue.num_types > 1 && catalogue.num_types <= num_types) return;
  const bool one = catalogue.num_types == 1 && !run.linked_types.empty();
  if (one && run.linked_types[0] >= 0 && run.linked_types[0] < num_types) return;
  throw InputError(fmt::format(
      "a catalogue with {} particle types does not fit a snapshot with {} and {} linked types",
      catalogue.num_types, num_types, run.linked_types.size()));
}

/// Rows and ids must be those of all ranks in the order of the ranks: files hold them so.
void check_rows(const Communicator& comm, const Catalogue& catalogue, Index num_ids) {
  const std::size_t num = catalogue.length.size();
  const std::size_t by_type = num * static_cast<std::size_t>(std::max(catalogue.num_types, 0));
  if (catalogue.label.size() != num || catalogue.offset.size() != num ||
      catalogue.properties.size() != num || catalogue.length_by_type.size() != by_type ||
      catalogue.mass_by_type.size() != by_type)
    throw InputError(fmt::format(
        "the catalogue has {} rows, but {} labels, {} offsets, {} properties, and {} "
        "lengths and {} masses by type, of which there are {}",
        num, catalogue.label.size(), catalogue.offset.size(), catalogue.properties.size(),
        catalogue.length_by_type.size(), catalogue.mass_by_type.size(), catalogue.num_types));
  const auto rows = static_cast<Index>(num);
  const Index before = comm.exclusive_sum(rows), total = comm.sum(rows);
  const Index members =
      comm.sum(std::accumulate(catalogue.length.begin(), catalogue.length.end(), Index{0}));
  const Index ids = comm.sum(num_ids);
  if (total != catalogue.num_groups_total || (rows > 0 && catalogue.first_group != before)) {
    throw InputError(fmt::format(
        "the catalogue's rows do not follow one another over the ranks: {} in all, where {} are "
        "announced; here the first is {}, after {} on lower ranks",
        total, catalogue.num_groups_total, catalogue.first_group, before));
  }
  if (ids != 0 && ids != members)
    throw InputError(fmt::format(
        "there are {} ids for {} members of groups; give one for each or none", ids, members));
}

void write_counts(OutputFile& file, const FileView& view, const Placement& groups,
                  const Placement& ids) {
  const auto count = [&](const char* name, Index value) { file.attribute("Header", name, value); };
  count("Ngroups_ThisFile", groups.in_files(view.files).count);
  count("Ngroups_Total", groups.total());
  for (const char* name :
       {"Nsubgroups_ThisFile", "Nsubgroups_Total", "Nsubhalos_ThisFile", "Nsubhalos_Total"})
    count(name, 0);
  count("Nids_ThisFile", ids.in_files(view.files).count);
  count("Nids_Total", ids.total());
}

/// Makes /Parameters: the origin, and how groups were found.
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
    file.attribute(group, "MinCounts", std::string(run.only_linked_count ? "linked" : "all"));
  }
  file.attribute(group, "Periodic", run.periodic ? 1 : 0);
}

/// What decides about the files and what they say of the run. Collective.
void check_equal(const Communicator& comm, const SnapshotInfo& snapshot, const RunRecord& run,
                 int num_types) {
  validate_equal(comm,
                 numbers_of(snapshot.number, snapshot.types.size(), num_types, run.min_members,
                            run.only_linked_count, run.periodic, run.linking_length,
                            run.linking_ratio, run.mean_separation, run.attach_radius,
                            run.mean_separation_rule, run.linked_types, run.attached_types),
                 "the record of a run, or the number of a snapshot and its types,");
}

/// May throw on one rank only.
void write_rows(StagedFiles& files, const Groups& groups, const SnapshotInfo& snapshot,
                const RunRecord& run, const WriteOptions& options) {
  const Communicator& comm = files.comm();
  const FileShares shares = file_shares(comm, options);
  check_equal(comm, snapshot, run, groups.table.num_types);
  check_types(groups.table, snapshot, run);
  check_rows(comm, groups.table, groups.member_ids.size());
  const GroupTable table(comm, groups.table, snapshot, run);
  const Placement group_rows(comm, shares, static_cast<Index>(groups.table.length.size()));
  const Placement id_rows(comm, shares, groups.member_ids.size());
  const std::string number = fmt::format("{:03d}", snapshot.number);

  FileSet set;
  set.prefix = fmt::format("groups_{0}/fof_subhalo_tab_{0}", number);
  set.units = snapshot.units;
  set.cosmological = snapshot.cosmological;
  set.columns = table.columns(group_rows);
  set.columns.push_back({"IDs/ID", hdf5::cells_of(groups.member_ids), &id_rows});
  set.write_header = [&](OutputFile& file, const FileView& view) {
    // yt takes the number from the master and opens the numbered files: with 1 it would show the
    // first alone.
    write_common_header(file, view.is_master() ? view.files.count : view.num_files, snapshot);
    write_counts(file, view, group_rows, id_rows);
    file.attribute("Header", "Checksum", fmt::format("{:016x}", groups.table.checksum));
    write_run(file, snapshot, run);
    for (const char* group : {"Group", "Subhalo", "IDs"}) file.make_group(group);
    file.attribute("Group", "GroupFOFLinkingLength", run.linking_length);
  };
  files.make_directory("groups_" + number);
  write_file_set(files, shares, set, options.master);
}

std::string membership_prefix(const SnapshotInfo& snapshot) {
  return fmt::format("membership_{:03d}", snapshot.number);
}

void check_membership(const Membership& membership, const SnapshotInfo& snapshot, bool has_ids) {
  check_ranges(membership.ranges, 0, static_cast<int>(snapshot.types.size()), "a membership");
  const Index count = num_rows(membership.ranges);
  if (membership.group_of.size() != count || (has_ids && membership.id.size() != count))
    throw InputError(fmt::format("a membership of {} particles has {} group numbers and {} ids",
                                 count, membership.group_of.size(), membership.id.size()));
}

/// Particles by type on this rank.
std::vector<Index> counts_of(const Membership& membership, const SnapshotInfo& snapshot) {
  std::vector<Index> counts(snapshot.types.size());
  for (const TypeRange& range : membership.ranges)
    counts.at(static_cast<std::size_t>(range.type)) = range.count;
  return counts;
}

/// The types that all files have: those that are linked, and those that any rank has particles of.
std::vector<int> types_of(const std::vector<Index>& totals, const RunRecord& run) {
  std::vector<int> types;
  for (int type = 0; type < static_cast<int>(totals.size()); ++type) {
    const bool linked = std::count(run.linked_types.begin(), run.linked_types.end(), type) > 0;
    if (linked || totals[static_cast<std::size_t>(type)] > 0) types.push_back(type);
  }
  return types;
}

std::vector<FileColumn> membership_columns(const Membership& membership,
                                           const std::vector<TypeRows>& rows, bool has_ids) {
  std::vector<FileColumn> columns;
  for (const TypeRows& type : rows) {
    const std::string group = group_of_type(type.range.type);
    const Share mine{type.begin, type.range.count};
    columns.push_back(
        {group + "/GroupNr", hdf5::cells_of(membership.group_of).part(mine), &type.placement});
    if (has_ids)
      columns.push_back(
          {group + "/ParticleIDs", hdf5::cells_of(membership.id).part(mine), &type.placement});
  }
  return columns;
}

/// May throw on one rank only.
void write_particles(StagedFiles& files, const Membership& membership, const SnapshotInfo& snapshot,
                     const RunRecord& run, const WriteOptions& options) {
  const Communicator& comm = files.comm();
  const FileShares shares = file_shares(comm, options);
  check_equal(comm, snapshot, run, static_cast<int>(snapshot.types.size()));
  const bool has_ids =
      comm.sum(membership.id.size()) > 0 || comm.sum(membership.group_of.size()) == 0;
  check_membership(membership, snapshot, has_ids);
  std::vector<Index> totals = counts_of(membership, snapshot);
  comm.sum_in_place(totals);
  const std::vector<TypeRows> rows =
      rows_by_type(comm, shares, membership.ranges, types_of(totals, run));

  FileSet set;
  set.prefix = membership_prefix(snapshot);
  set.units = snapshot.units;
  set.cosmological = snapshot.cosmological;
  set.columns = membership_columns(membership, rows, has_ids);
  set.write_header = [&](OutputFile& file, const FileView& view) {
    write_common_header(file, view.num_files, snapshot);
    write_types(file, view, rows, snapshot.types.size());
    write_run(file, snapshot, run);
  };
  write_file_set(files, shares, set, options.master);
}

}  // namespace

void write_catalogue(StagedFiles& files, const Groups& groups, const SnapshotInfo& snapshot,
                     const RunRecord& run, const WriteOptions& options) {
  files.all_or_nothing([&] { write_rows(files, groups, snapshot, run, options); });
}

void write_membership(StagedFiles& files, const Membership& membership,
                      const SnapshotInfo& snapshot, const RunRecord& run,
                      const WriteOptions& options) {
  files.all_or_nothing([&] { write_particles(files, membership, snapshot, run, options); });
}

void retire_membership(StagedFiles& files, const SnapshotInfo& snapshot) {
  retire_file_set(files, membership_prefix(snapshot));
}

}  // namespace zhalo::io
