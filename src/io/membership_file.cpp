#include <fmt/format.h>

#include <algorithm>

#include "src/io/file_set.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

std::string prefix_of(const SnapshotInfo& snapshot) { return fmt::format("membership_{:03d}", snapshot.number); }

std::string group_of_type(int type) { return fmt::format("PartType{}", type); }

/// This rank's particles of one type, the same types on all ranks.
struct TypeRows {
  TypeRange range;
  Index begin = 0;  // in this rank's columns
  Placement placement;
};

void check_ranges(const Membership& membership, const SnapshotInfo& snapshot, bool has_ids) {
  Index count = 0;
  int last = -1;
  for (const TypeRange& range : membership.ranges) {
    if (range.type <= last || range.type >= static_cast<int>(snapshot.types.size()) || range.count < 0)
      throw InputError(
          fmt::format("a membership with a range of particle type {} after one of type {}: give one range for each "
                      "type of the snapshot, in ascending order",
                      range.type, last));
    last = range.type;
    count += range.count;
  }
  if (membership.group_of.size() != count || (has_ids && membership.id.size() != count))
    throw InputError(fmt::format("a membership of {} particles has {} group numbers and {} ids", count,
                                 membership.group_of.size(), membership.id.size()));
}

/// Particles by type on this rank.
std::vector<Index> counts_of(const Membership& membership, const SnapshotInfo& snapshot) {
  std::vector<Index> counts(snapshot.types.size());
  for (const TypeRange& range : membership.ranges) counts.at(static_cast<std::size_t>(range.type)) = range.count;
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

/// Collective. Files hold the particles in the order of the ranks, which must be that of the snapshot.
std::vector<TypeRows> rows_by_type(const Communicator& comm, const FileShares& shares, const Membership& membership,
                                   const std::vector<int>& types) {
  std::vector<TypeRows> rows;
  Index begin = 0;
  for (const int type : types) {
    TypeRange range{type, 0, 0};
    for (const TypeRange& mine : membership.ranges) range = mine.type == type ? mine : range;
    const Index before = comm.exclusive_sum(range.count);
    if (range.count > 0 && range.first != before) {
      throw InputError(
          fmt::format("the particles of type {} do not follow one another over the ranks: this rank's begin at {}, "
                      "lower ranks have {}",
                      type, range.first, before));
    }
    rows.push_back({range, begin, Placement(comm, shares, range.count)});
    begin += range.count;
  }
  return rows;
}

std::vector<FileColumn> columns_of(const Membership& membership, const std::vector<TypeRows>& rows, bool has_ids) {
  std::vector<FileColumn> columns;
  for (const TypeRows& type : rows) {
    const std::string group = group_of_type(type.range.type);
    const Share mine{type.begin, type.range.count};
    columns.push_back({group + "/GroupNr", hdf5::cells_of(membership.group_of).part(mine), &type.placement});
    if (has_ids) columns.push_back({group + "/ParticleIDs", hdf5::cells_of(membership.id).part(mine), &type.placement});
  }
  return columns;
}

void write_types(OutputFile& file, const FileView& view, const std::vector<TypeRows>& rows, const SnapshotInfo& snapshot) {
  std::vector<Index> counts(snapshot.types.size()), totals(snapshot.types.size());
  for (const TypeRows& type : rows) {
    const Share held = type.placement.in_files(view.files);
    const std::string group = group_of_type(type.range.type);
    file.make_group(group);
    file.attribute(group, "FirstParticle", held.first);
    counts[static_cast<std::size_t>(type.range.type)] = held.count;
    totals[static_cast<std::size_t>(type.range.type)] = type.placement.total();
  }
  file.attribute("Header", "NumPart_ThisFile", counts);
  file.attribute("Header", "NumPart_Total", totals);
}

/// May throw on one rank only.
void write_particles(StagedFiles& files, const Membership& membership, const SnapshotInfo& snapshot, const RunRecord& run,
                     const WriteOptions& options) {
  const Communicator& comm = files.comm();
  const FileShares shares = file_shares(comm, options);
  const bool has_ids = comm.sum(membership.id.size()) > 0 || comm.sum(membership.group_of.size()) == 0;
  check_ranges(membership, snapshot, has_ids);
  std::vector<Index> totals = counts_of(membership, snapshot);
  comm.sum_in_place(totals);
  const std::vector<TypeRows> rows = rows_by_type(comm, shares, membership, types_of(totals, run));

  FileSet set;
  set.prefix = prefix_of(snapshot);
  set.units = snapshot.units;
  set.columns = columns_of(membership, rows, has_ids);
  set.write_header = [&](OutputFile& file, const FileView& view) {
    write_common_header(file, view.num_files, snapshot);
    write_types(file, view, rows, snapshot);
    write_run(file, snapshot, run);
  };
  write_file_set(files, shares, set, options.master);
}

}  // namespace

void write_membership(StagedFiles& files, const Membership& membership, const SnapshotInfo& snapshot, const RunRecord& run,
                      const WriteOptions& options) {
  files.comm().together([&] { write_particles(files, membership, snapshot, run, options); });
}

void retire_membership(StagedFiles& files, const SnapshotInfo& snapshot) { retire_file_set(files, prefix_of(snapshot)); }

}  // namespace zhalo::io
