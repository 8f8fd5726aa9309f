/// Writing group catalogues in the layout that illustris_python, yt and pynbody read
/// (docs/formats.md).
#pragma once

#include <cstdint>
#include <limits>

#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::io {

/// How the groups were found. It is written to /Parameters of the files.
struct RunRecord {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  double linking_length = 0;       ///< in the file's length unit
  double linking_ratio = unknown;  ///< in units of the mean separation
  double mean_separation = unknown;
  std::string mean_separation_rule{};  ///< MeanSeparation::how
  Index min_members = 0;
  std::vector<int> linked_types{};
  std::vector<int> attached_types{};
  /// If types were attached: largest distance to the nearest linked particle, in linking lengths.
  double attach_radius = 0;
  bool only_linked_count = false;  ///< only linked particles count for min_members
  bool periodic = false;
};

/// This rank's groups, on the host.
struct Groups {
  const Catalogue& table;
  /// ParticleIDs of this rank's members in group order (from in_group_order(), copied to the host),
  /// or empty on all ranks.
  Span<const std::uint64_t> member_ids;
};

/// Stages `groups_NNN/fof_subhalo_tab_NNN.K.hdf5`, NNN being the snapshot's number. The files hold
/// the rows of all ranks, in the order of the ranks. Each rank holds and writes its own rows only.
/// Collective over files.comm(). Call files.commit() afterwards.
///
/// The table's `num_types` is that of the snapshot, or 1 with a single linked type. Its velocities
/// are peculiar. Throws on all ranks: InputError if rows or ids of the ranks do not follow one
/// another, if numbers contradict each other, or if options differ; FileError with path and reason
/// if a rank cannot write, for example to a full disk.
void write_catalogue(StagedFiles& files, const Groups& groups, const SnapshotInfo& snapshot,
                     const RunRecord& run, const WriteOptions& options = {});

/// For each particle of this rank, the row of its group. In the order of LoadedParticles, on the
/// host.
struct Membership {
  /// LoadedParticles::ranges. Over all ranks they cover each type from its first particle on.
  std::vector<TypeRange> ranges;
  Span<const Index> group_of;    ///< Catalogue::group_of
  Span<const std::uint64_t> id;  ///< ParticleIDs, or empty on all ranks
};

/// Stages `membership_NNN.K.hdf5` with `PartTypeN/GroupNr` (int64, -1 = in no group) and, if there
/// are ids, `PartTypeN/ParticleIDs`. Rows are in the snapshot's order over the files. The attribute
/// FirstParticle of PartTypeN is the index of the first row in that order. Collective; throws as
/// write_catalogue().
void write_membership(StagedFiles& files, const Membership& membership,
                      const SnapshotInfo& snapshot, const RunRecord& run,
                      const WriteOptions& options = {});

/// For a run that writes no membership: removes that of an earlier run at the commit, because it
/// would contradict the new catalogue. Not collective, but all ranks must call it.
void retire_membership(StagedFiles& files, const SnapshotInfo& snapshot);

}  // namespace zhalo::io
