#include "zhalo/io/catalogue_file.hpp"

#include <fmt/format.h>

#include <numeric>

#include "src/io/output/group_table.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {

using hdf5::OutputFile;

namespace {

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
  const auto rows = static_cast<Index>(catalogue.length.size());
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

/// May throw on one rank only.
void write_rows(StagedFiles& files, const Groups& groups, const SnapshotInfo& snapshot,
                const RunRecord& run, const WriteOptions& options) {
  const Communicator& comm = files.comm();
  const FileShares shares = file_shares(comm, options);
  check_types(groups.table, snapshot, run);
  check_rows(comm, groups.table, groups.member_ids.size());
  const GroupTable table(comm, groups.table, snapshot, run);
  const Placement group_rows(comm, shares, static_cast<Index>(groups.table.length.size()));
  const Placement id_rows(comm, shares, groups.member_ids.size());
  const std::string number = fmt::format("{:03d}", snapshot.number);

  FileSet set;
  set.prefix = fmt::format("groups_{0}/fof_subhalo_tab_{0}", number);
  set.units = snapshot.units;
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

}  // namespace

void write_catalogue(StagedFiles& files, const Groups& groups, const SnapshotInfo& snapshot,
                     const RunRecord& run, const WriteOptions& options) {
  files.comm().together([&] { write_rows(files, groups, snapshot, run, options); });
}

}  // namespace zhalo::io
