/// Writing group catalogues in the layout that illustris_python, yt and pynbody read
/// (docs/formats.md).
#pragma once

#include <cstdint>

#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::io {

/// How the groups were found: goes into the files' /Parameters.
struct RunRecord {
  double linking_length = 0;  ///< in the file's length unit
  double linking_ratio = 0;   ///< in units of the mean separation; 0 if the length was given
  double mean_separation = 0;
  std::string mean_separation_rule{};  ///< MeanSeparation::how
  Index min_members = 0;
  std::vector<int> linked_types{};
  std::vector<int> attached_types{};
  double attach_radius =
      0;  ///< to the nearest linked particle, in linking lengths, if types were attached
  bool only_linked_count = false;  ///< for min_members
  bool periodic = false;
};

/// Files of each kind that may be asked for. Each has some 30 datasets of its own, and each rank
/// counts the rows of all files.
constexpr Index max_files = 1000000;

/// How results are laid out on the disk; the same on all ranks.
struct WriteOptions {
  /// Files of each kind, for any number of ranks; 0: one per rank. With fewer files than ranks,
  /// file k is that of ranks [k P / K, (k + 1) P / K), who write it one after the other; with more,
  /// each rank splits its rows evenly over its files. At most max_files.
  Index num_files = 0;
  /// Also a file without a number that shows those with numbers as one (HDF5's virtual datasets).
  bool master = false;
};

/// This rank's groups, on the host.
struct Groups {
  const Catalogue& table;
  /// ParticleIDs of this rank's members in group order (in_group_order, brought to the host), or
  /// empty on all ranks.
  Span<const std::uint64_t> member_ids;
};

/// Stages `groups_NNN/fof_subhalo_tab_NNN.K.hdf5`, NNN being the snapshot's number: the rows of all
/// ranks, in the order of the ranks. A rank holds its own rows only. Collective over files.comm();
/// call files.commit() afterwards.
///
/// The table's `num_types` is that of the snapshot, or 1 with a single linked type; its velocities
/// are peculiar. InputError if rows or ids of the ranks do not follow one another, numbers
/// contradict each other, or options differ; FileError with path and reason if a rank cannot write,
/// also for a full disk. Both on all ranks.
void write_catalogue(StagedFiles& files, const Groups& groups, const SnapshotInfo& snapshot,
                     const RunRecord& run, const WriteOptions& options = {});

/// For each particle of this rank the row of its group, in the order of LoadedParticles, on the
/// host.
struct Membership {
  std::vector<TypeRange> ranges;  ///< LoadedParticles::ranges: over the ranks each type is covered
                                  ///< from its first particle on
  Span<const Index> group_of;     ///< Catalogue::group_of
  Span<const std::uint64_t> id;   ///< or empty on all ranks
};

/// Stages `membership_NNN.K.hdf5`: `PartTypeN/GroupNr` (int64, -1 = in no group) and
/// `PartTypeN/ParticleIDs`, in the snapshot's order over the files; attribute FirstParticle of
/// PartTypeN is the index of the first row in that order. Collective; throws as write_catalogue.
void write_membership(StagedFiles& files, const Membership& membership,
                      const SnapshotInfo& snapshot, const RunRecord& run,
                      const WriteOptions& options = {});

/// For a run that writes no membership: that of an earlier run, which would contradict the new
/// catalogue, goes at the commit.
void retire_membership(StagedFiles& files, const SnapshotInfo& snapshot);

}  // namespace zhalo::io
