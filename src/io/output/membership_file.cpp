#include <fmt/format.h>

#include <algorithm>

#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

std::string prefix_of(const SnapshotInfo& snapshot) {
  return fmt::format("membership_{:03d}", snapshot.number);
}

void check_columns(const Membership& membership, const SnapshotInfo& snapshot, bool has_ids) {
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

std::vector<FileColumn> columns_of(const Membership& membership, const std::vector<TypeRows>& rows,
                                   bool has_ids) {
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
  const bool has_ids =
      comm.sum(membership.id.size()) > 0 || comm.sum(membership.group_of.size()) == 0;
  check_columns(membership, snapshot, has_ids);
  std::vector<Index> totals = counts_of(membership, snapshot);
  comm.sum_in_place(totals);
  const std::vector<TypeRows> rows =
      rows_by_type(comm, shares, membership.ranges, types_of(totals, run));

  FileSet set;
  set.prefix = prefix_of(snapshot);
  set.units = snapshot.units;
  set.columns = columns_of(membership, rows, has_ids);
  set.write_header = [&](OutputFile& file, const FileView& view) {
    write_common_header(file, view.num_files, snapshot);
    write_types(file, view, rows, snapshot.types.size());
    write_run(file, snapshot, run);
  };
  write_file_set(files, shares, set, options.master);
}

}  // namespace

void write_membership(StagedFiles& files, const Membership& membership,
                      const SnapshotInfo& snapshot, const RunRecord& run,
                      const WriteOptions& options) {
  files.comm().together([&] { write_particles(files, membership, snapshot, run, options); });
}

void retire_membership(StagedFiles& files, const SnapshotInfo& snapshot) {
  retire_file_set(files, prefix_of(snapshot));
}

}  // namespace zhalo::io
