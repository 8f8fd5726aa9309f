/// Writing group catalogues in the layout that illustris_python, yt and pynbody read (docs/formats.md).
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
  bool periodic = false;
};

/// Stages `groups_NNN/fof_subhalo_tab_NNN.RANK.hdf5`, NNN being the snapshot's number: this rank's rows. Collective over
/// files.comm(); call files.commit() afterwards.
///
/// `catalogue.num_types` is that of the snapshot, or 1 with a single linked type; velocities in the catalogue are peculiar.
/// `member_ids`: ParticleIDs of this rank's members in group order (in_group_order, brought to the host), or empty on all
/// ranks. Throws FileError with path and reason, also for a full disk.
void write_catalogue(StagedFiles& files, const Catalogue& catalogue, const SnapshotInfo& snapshot,
                     Span<const std::uint64_t> member_ids, const RunRecord& run);

/// For each particle of this rank the row of its group, in the order of LoadedParticles, on the host.
struct Membership {
  std::vector<TypeRange> ranges;  ///< LoadedParticles::ranges
  Span<const Index> group_of;     ///< Catalogue::group_of
  Span<const std::uint64_t> id;   ///< or empty on all ranks
};

/// Stages `membership_NNN.RANK.hdf5`: `PartTypeN/GroupNr` (int64, -1 = in no group) and `PartTypeN/ParticleIDs`, in the
/// snapshot's order over the files; attribute FirstParticle of PartTypeN is the place of the first row in that order.
/// Collective as write_catalogue.
void write_membership(StagedFiles& files, const Membership& membership, const SnapshotInfo& snapshot, const RunRecord& run);

/// For a run that writes no membership: that of an earlier run, which would contradict the new catalogue, goes at the commit.
void retire_membership(StagedFiles& files, const SnapshotInfo& snapshot);

}  // namespace zhalo::io
