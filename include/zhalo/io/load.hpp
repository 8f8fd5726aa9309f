/// From a snapshot to Particles: each rank loads its share. Query points, haloes, and masses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/types.hpp"
#include "zhalo/cosmology/cosmology.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::io {

/// Type number of query points, which are not particles (load_query_points).
constexpr int no_type = -1;

/// Particles [first, first + count) of one type, in the order of the files.
struct TypeRange {
  int type = 0;
  Index first = 0;
  Index count = 0;
};

/// Checks which particles are to be used. Their global order is by ascending type, then the order
/// of the files. Throws InputError if the list is empty, names a type twice, or names a type of
/// which the file has no particles or no Coordinates, and what is wrong with those that cannot be
/// read.
void check_types(const SnapshotInfo& info, const std::vector<int>& types);

/// The ranges that a share of the global order of these types covers: at most one per type, none
/// empty.
std::vector<TypeRange> ranges_of(const SnapshotInfo& info, const std::vector<int>& types,
                                 Share share);

/// Positions as a distant observer infers them from redshifts, along one axis:
///   s = x + v / (a H), with the peculiar velocity v (Kaiser 1987, MNRAS 227, 1)
struct RedshiftSpace {
  int axis = 2;
  double length_per_velocity = 0;  ///< 1 / (a H), in the snapshot's units
  /// Positions within [0, side) are wrapped to it when they have moved. None: they are not.
  std::optional<double> side{};
};

/// H is the header's (SWIFT), or follows from its a, Omega_m and Omega_Lambda, for a cosmological
/// constant without radiation. The side is that of a periodic box. InputError for an axis other
/// than 0, 1 and 2, for a run that is not cosmological, and for a header without these numbers.
RedshiftSpace redshift_space(const SnapshotInfo& info, int axis);

/// The columns to load besides positions.
struct LoadOptions {
  bool velocities = true;
  bool ids = true;
  bool masses = true;
  std::optional<RedshiftSpace> redshift_space{};  ///< of the positions; none: as in the file
  /// Only positions are there when load_particles() returns. A thread of its own reads the other
  /// columns, while the caller works with the positions. LoadedParticles::wait_for_columns() waits
  /// for them. Before that the caller may use zhalo's files, but call HDF5 itself only if HDF5 is
  /// built for several threads.
  bool in_background = false;
};

/// Throws what is wrong with a column that is to be read of these types, if anything is
/// (TypeSummary). Those that are not there are not read.
void check_readable(const SnapshotInfo& info, const std::vector<int>& types,
                    const LoadOptions& columns);

class ColumnReading;

/// One rank's share of a snapshot, in memory of an Exec. It owns the memory that `particles` views.
template <class Real>
struct LoadedParticles {
  LoadedParticles() = default;
  LoadedParticles(LoadedParticles&&) noexcept = default;
  /// Ends the reading of these columns before it gives them back.
  LoadedParticles& operator=(LoadedParticles&& other) noexcept {
    if (this != &other) {
      std::destroy_at(this);
      std::construct_at(this, std::move(other));
    }
    return *this;
  }
  LoadedParticles(const LoadedParticles&) = delete;
  LoadedParticles& operator=(const LoadedParticles&) = delete;
  ~LoadedParticles() = default;

  /// One segment per range. The `type` columns hold the file's type numbers.
  Particles<Real> particles;
  /// ParticleIDs in the same order. Empty if they were not loaded or a type has none.
  Buffer<std::uint64_t> id;
  std::vector<TypeRange> ranges;
  bool has_velocities = false;  ///< the same on all ranks
  bool has_ids = false;         ///< the same on all ranks, even without particles

  std::vector<Buffer<Real>> real_columns;
  std::vector<Buffer<float>> float_columns;
  std::vector<Buffer<double>> double_columns;
  Buffer<std::uint8_t> type_numbers;

  /// Returns when all columns are there, also those of LoadOptions::in_background. Before that only
  /// positions and types may be used, and no other column may be given back. Collective: an error
  /// that reading has met on one rank is an error on all.
  void wait_for_columns(const Context& context);

  /// For the library. The last member: the thread ends before its columns do.
  std::shared_ptr<ColumnReading> reading;
};

/// Reads this rank's equal share of all particles of `types`. Velocities are peculiar, in the
/// file's unit. Velocities or ids are left out if one of the types has none. Collective: an error
/// on one rank is an error on all. InputError as check_types(), if masses or redshift space are
/// wanted but a type has no masses or velocities, and for redshift space also if a velocity is not
/// finite, or if its axis or length is none.
template <class Real>
LoadedParticles<Real> load_particles(const Context& context, const Snapshot& snapshot,
                                     const std::vector<int>& types,
                                     const LoadOptions& options = {});

/// A file of query points: HDF5 with a dataset `Coordinates` of shape (N, 3) at its root, float32
/// or float64.
struct QueryPoints {
  std::string path;
  Index count = 0;
  bool double_coordinates = false;
  std::vector<std::string> origins{};  ///< as SnapshotInfo::origins
};

/// Looks for query points in a file. Empty if the path is no file with such a dataset, for example
/// if it is a snapshot. Rank 0 looks and tells the others. Collective. FileError for a file that is
/// damaged or not HDF5, InputError for a dataset of another shape or kind, or a file with neither
/// this dataset nor the /Header of a snapshot.
std::optional<QueryPoints> find_query_points(const Communicator& comm, const std::string& path);

/// Reads this rank's equal share of the query points, as one range of type no_type. Collective.
template <class Real>
LoadedParticles<Real> load_query_points(const Context& context, const QueryPoints& file);

/// Number, mean and range of the masses of all particles of these types. Each rank reads its share
/// in blocks. Collective. InputError if a type has no masses, or one is negative or not finite.
MassSummary summarise_masses(const Communicator& comm, const Snapshot& snapshot,
                             const std::vector<int>& types);

/// What the header says about the matter around these types, for mean_separation().
MatterContent matter_of(const SnapshotInfo& info, const std::vector<int>& types);

/// One group of a catalogue, in the units of the catalogue.
struct Halo {
  Vec3d centre;  ///< GroupPos, or GroupCM
  /// Distance of the farthest member, else Group_R_Crit200 or Group_R_Mean200. 0 if the catalogue
  /// has none of them.
  double radius = 0;
  double mass = 0;   ///< GroupMass, which a catalogue must have
  Index length = 0;  ///< GroupLen, which a catalogue must have
};

struct HaloList {
  std::vector<Halo> haloes;          ///< in the catalogue's order: the largest first
  Index num_total = 0;               ///< of the catalogue, with those that were not asked for
  Vec3d box_length;                  ///< 0 if the catalogue does not say
  std::optional<double> redshift;    ///< empty if the catalogue does not say
  std::vector<std::string> files;    ///< of the catalogue
  std::vector<std::string> origins;  ///< as SnapshotInfo::origins
};

/// Reads the first `max_haloes` haloes for which `is_wanted` is true; empty wants all. Only those
/// are held in memory. `path` is a catalogue folder groups_NNN, one of its files, or a name without
/// ".K.hdf5". Throws FileError or InputError. Not collective: run it on one rank, in
/// Communicator::together.
HaloList read_haloes(const std::string& path, Index max_haloes,
                     const std::function<bool(const Halo&)>& is_wanted = {});

}  // namespace zhalo::io
