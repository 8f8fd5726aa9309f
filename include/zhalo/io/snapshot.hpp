/// Reading particles from snapshots in HDF5, of many codes, in one file or many.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::io {

/// The code (or family of codes) whose conventions a file follows. `gadget` is GADGET-2 or 3.
enum class Code { gadget, gadget4, arepo, swift, eagle, gizmo };

/// As users know it, such as "GADGET-2/3".
std::string name_of(Code code);
/// The names of all, with commas between.
std::string names_of_codes();

/// What the file, or the user, says about the universe. A missing value is empty, never guessed. In
/// the info of a snapshot that is not of a cosmological run, the values of the file are empty.
struct Cosmology {
  std::optional<double> scale_factor;
  std::optional<double> redshift;
  std::optional<double> hubble;  ///< h: H0 in units of 100 km/s/Mpc
  std::optional<double> omega_matter;
  std::optional<double> omega_lambda;
  std::optional<double> omega_baryon;
  std::optional<double> omega_cdm;
  std::optional<double> hubble_ratio;  ///< H(a) / H0, where the file has both (SWIFT)
  /// H0 in the file's own units, with its own powers of h, where it states it (GADGET-4, AREPO).
  std::optional<double> hubble_rate;
  /// At redshift zero, in the file's own units of mass and length and with the file's own powers of
  /// h. A comoving mean density is Omega times this.
  std::optional<double> critical_density;
  /// Where critical_density comes from, or why there is none.
  std::string critical_density_source;
};

/// The file's units in cgs. Lengths are comoving. Unless `h_free`, lengths and masses also carry
/// 1/h: a stored length x is x * length_in_cm / h.
struct Units {
  double length_in_cm = 0;
  double mass_in_g = 0;
  double velocity_in_cm_per_s = 0;
  bool h_free = false;
  /// The file states no units. They are those usual for its code.
  bool assumed = false;

  /// For example "Mpc/h", "kpc", "3.1e+20 cm".
  std::string length_name() const;
  /// For example "1e10 Msun/h", "2e+33 g".
  std::string mass_name() const;
};

/// What is wrong with a dataset that is there, but cannot be read: an error for whoever needs it.
struct ColumnFault {
  std::string message;   ///< empty if nothing is wrong
  bool of_file = false;  ///< a FileError, not an InputError

  explicit operator bool() const { return !message.empty(); }
  /// Throws the error, if there is one.
  void check() const;
};

/// One particle type of the snapshot, over all of its files.
struct TypeSummary {
  Index count = 0;
  /// Particles of the run that its output leaves out, as SWIFT may say.
  Index left_out = 0;
  bool has_coordinates = false;
  bool has_velocities = false;
  bool has_ids = false;
  /// float cannot hold the stored positions: they are float64, or integers of 32 or 64 bits.
  bool double_coordinates = false;
  bool double_velocities = false;
  bool double_masses = false;
  /// "MassTable", "InitialMassTable", "Masses", "Mass", "DynamicalMasses", "user" or "none".
  std::string mass_source = "none";
  /// The mass of every particle of the type, if it comes from a table or the user.
  std::optional<double> uniform_mass;
  /// Of masses only if they come from the dataset.
  ColumnFault coordinates_fault, velocities_fault, masses_fault, ids_fault;
};

/// What is known of a snapshot before its particles are read.
struct SnapshotInfo {
  Code code = Code::gadget;
  std::string version;  ///< of the code that wrote the file, or empty
  std::string path;     ///< as the user gave it
  /// In the order of the chunks. Empty for a snapshot that was made in memory: then the name of the
  /// snapshot in files of results is empty, too.
  std::vector<std::string> files;
  /// Other files that hold a part of what these show: behind external links, in parts of virtual
  /// datasets, and in external storage.
  std::vector<std::string> origins;
  std::string stem;  ///< name of the files without directory, chunk number and ".hdf5"
  /// Number of the snapshot, from its name: 7 for snapshot_007. 0 if the name has none.
  int number = 0;
  std::vector<TypeSummary> types;  ///< by number; as many as the file has

  std::optional<Vec3d> box_length;  ///< none if the file says 0 or nothing
  /// The sides over Header/BoxSize, of which GADGET-4 and AREPO can be compiled to take parts or
  /// multiples. IntCoordinates span BoxSize on each axis.
  Vec3d box_stretch{{1, 1, 1}};
  std::optional<bool> periodic;  ///< empty if the file does not say
  bool cosmological = true;      ///< lengths are comoving, and velocities need a scale factor
  /// Of a run that is not cosmological, in its own unit of time: the unit of length over that of
  /// velocity. Empty if the file does not say, and for a cosmological run.
  std::optional<double> time;
  Cosmology cosmology;
  Units units;
  /// Stored velocities times this are peculiar velocities. It is sqrt(a) for the GADGET family, and
  /// 1 for SWIFT and for runs without cosmology.
  double velocity_factor = 1;

  /// Peculiarities of the file and how they were interpreted, one sentence each: to be shown to the
  /// user.
  std::vector<std::string> notes;
  /// What the file has but zhalo cannot use, one sentence each: to be shown to the user as a
  /// warning.
  std::vector<std::string> warnings;

  Index num_total() const;
};

/// What the user knows better than the file. Where a field is empty, the file's value holds.
struct SnapshotOverrides {
  std::optional<double> box_length;  ///< of a cube, in the file's length unit; 0 for none
  std::optional<double> unit_length_in_cm;
  std::optional<double> unit_mass_in_g;
  std::optional<double> unit_velocity_in_cm_per_s;
  /// By type, in the file's mass unit. InputError if one is negative or not finite.
  std::map<int, double> masses;
  Cosmology cosmology;
};

/// The table that is shown to the user: code, files, particles and mass source per type, box,
/// units, cosmology, notes.
std::string describe(const SnapshotInfo& info);

enum class Periodicity { automatic, yes, no };

/// The box to search in. `automatic`: periodic if the file says so, or if it says nothing but has a
/// box. If it is not periodic, it has no bounds. Throws InputError if a periodic box is requested
/// and its size is unknown.
Box simulation_box(const SnapshotInfo& info, Periodicity periodicity = Periodicity::automatic);

/// A snapshot that has been opened and checked. Particles of a type are numbered over all files in
/// the order of the chunks. Any range of them can be read. Reading is not collective: every rank
/// reads its own ranges (run it in Communicator::together, so that all ranks see an error). Files
/// are open only during a call. A call needs no more than a few MB beside the caller's memory.
/// Copies share their state.
class Snapshot {
 public:
  /// Opens a snapshot. `path` is a file, any one of its chunks, a name without ".hdf5" or
  /// ".0.hdf5", or a directory with the files of one snapshot. Throws FileError for files that are
  /// missing, damaged or not HDF5. Throws InputError for content that is no snapshot or contradicts
  /// itself: counts that differ from the datasets, a chunk that is another snapshot's or there
  /// twice. A dataset that cannot be read is an error of those who need it (TypeSummary). Not
  /// collective.
  static Snapshot open(const std::string& path, const SnapshotOverrides& overrides = {});
  /// The same on all ranks, which look into equal parts of the files. Collective; all ranks throw
  /// the same error.
  static Snapshot open(const Communicator& comm, const std::string& path,
                       const SnapshotOverrides& overrides = {});

  const SnapshotInfo& info() const;

  /// Reads particles [first, first + xyz.size() / 3) of a type, row by row. Positions are in the
  /// file's length unit, as stored: they are not wrapped.
  void read_positions(int type, Index first, Span<float> xyz) const;
  void read_positions(int type, Index first, Span<double> xyz) const;
  /// As stored. Multiplied by info().velocity_factor they are peculiar.
  void read_velocities(int type, Index first, Span<float> xyz) const;
  void read_velocities(int type, Index first, Span<double> xyz) const;
  /// From the dataset, or uniform.
  void read_masses(int type, Index first, Span<float> mass) const;
  void read_masses(int type, Index first, Span<double> mass) const;
  void read_ids(int type, Index first, Span<std::uint64_t> id) const;

  struct State;

 private:
  explicit Snapshot(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace zhalo::io
