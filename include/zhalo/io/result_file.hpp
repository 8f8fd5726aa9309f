/// Writing numbers for each particle of a snapshot, or for each query point, in their order, and
/// writing snapshots (docs/formats.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "zhalo/io/load.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::io {

/// The powers of a, h, length, mass and velocity with which a quantity scales, as in GADGET-4's
/// attributes, and a description.
struct Meaning {
  double a = 0, h = 0, length = 0, mass = 0, velocity = 0;
  std::string text{};
};

/// Of a number with this unit. Lengths are comoving; they and masses are divided by h.
inline Meaning meaning_of(const UnitPowers& unit, std::string text) {
  return {.a = static_cast<double>(unit.length - unit.scale_factor),
          .h = static_cast<double>(-unit.length - unit.mass),
          .length = static_cast<double>(unit.length),
          .mass = static_cast<double>(unit.mass),
          .velocity = static_cast<double>(unit.velocity),
          .text = std::move(text)};
}

/// A named value that is written as an attribute.
struct Note {
  std::string name;
  std::variant<double, Index, std::string, std::vector<int>, std::vector<Index>,
               std::vector<double>>
      value;
};

/// One dataset: a row of numbers for each particle of this rank, on the host.
struct ResultColumn {
  std::string name;
  std::variant<Span<const float>, Span<const double>, Span<const Index>> values;  ///< row by row
  /// Numbers per row, for a dataset of shape (N, width). 0: one number per row, shape (N).
  Index width = 0;
  Meaning meaning{};
  std::vector<Note> notes{};  ///< attributes of the dataset, besides those of the meaning
};

/// Numbers for this rank's particles. All but ranges and values is the same on all ranks.
struct Results {
  /// Types of which every file has a group, ascending and each once. The group of no_type is
  /// "Query".
  std::vector<int> types{};
  /// LoadedParticles::ranges, by ascending type. Over all ranks they cover each type from its first
  /// particle on.
  std::vector<TypeRange> ranges{};
  std::vector<ResultColumn> columns{};
  std::vector<Note> parameters{};  ///< how they were made: written to /Parameters
};

/// Stages `NAME.hdf5`, or `NAME.0.hdf5` and so on if there are several files. Datasets are
/// `PartTypeN/DATASET`, with rows in the snapshot's order over the files. The attribute
/// FirstParticle of PartTypeN is the index of the first row in that order. With several files and
/// WriteOptions::master, `NAME.hdf5` shows them as one. Files of an earlier run with these names
/// are removed at the commit. Time, box and units are those of `snapshot`. Collective; throws as
/// write_catalogue(), and InputError if types do not ascend, or names, types or columns differ
/// between ranks.
void write_results(StagedFiles& files, const std::string& name, const Results& results,
                   const SnapshotInfo& snapshot, const WriteOptions& options = {});

/// Whether `file` (without directory) is a name that write_results() may stage or remove for
/// `name`, with any number of files.
bool is_result_name(const std::string& name, const std::string& file);

/// What a file holds that has a name of results. The last five are zhalo's.
enum class Content {
  nothing,       ///< there is no file, or an empty one
  another_code,  ///< HDF5 that does not say that zhalo wrote it, or no HDF5
  catalogue,
  membership,
  results,  ///< of write_results()
  field,
  snapshot
};

/// FileError if the system does not say what lies there, or another program writes it.
Content content_of(const std::string& path);

/// For messages: "a snapshot, as ics writes". Of what zhalo writes.
std::string describe(Content content);

/// The first file of the snapshot that these results of zhalo are of, as the run named it. Empty if
/// they do not say, or cannot be read.
std::string snapshot_of_results(const std::string& path);

// Writing snapshots.

/// This rank's particles of one type, on the host. Each array has `num` elements; positions and
/// peculiar velocities have one array per axis. On a rank without particles, arrays and mass are
/// ignored.
template <class Real>
struct SnapshotParticles {
  int type = 1;  ///< the same on all ranks
  Index num = 0;
  std::array<const Real*, 3> pos{};
  std::array<const Real*, 3> velocity{};  ///< peculiar, in the snapshot's unit of velocity
  const std::uint64_t* id = nullptr;
  /// Of each particle, in the snapshot's unit. The same on all ranks that have particles.
  double mass = 0;
};

/// What the header says: units, cosmology and box. The same on all ranks.
struct SnapshotHeader {
  double box_length = 0;
  double scale_factor = 1;
  double hubble = 0.7;
  double omega_matter = 0.3;
  double omega_lambda = 0.7;
  double omega_baryon = 0;
  double length_in_cm = 3.085678e24;  ///< Mpc/h
  double mass_in_g = 1.989e43;        ///< 1e10 Msun/h
  double velocity_in_cm_per_s = 1e5;
  std::vector<Note> parameters{};  ///< how it was made: written to /Parameters
};

/// Stages `NAME.hdf5`, or `NAME.0.hdf5` and so on, in the layout of GADGET-4. The group of the type
/// has Coordinates, Velocities (peculiar velocities divided by the root of the scale factor) and
/// ParticleIDs. Masses are in MassTable. Positions outside the box are wrapped. Collective; throws
/// as write_results(). InputError also for a name, a header, a type or a mass that differ between
/// ranks, for missing arrays, and for numbers that are not finite or must be positive.
template <class Real>
void write_snapshot(StagedFiles& files, const std::string& name,
                    const SnapshotParticles<Real>& particles, const SnapshotHeader& header,
                    const WriteOptions& options = {});

}  // namespace zhalo::io
