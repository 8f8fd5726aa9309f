/// An opened snapshot: what its files hold, where its particles lie, and how they are read.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/io/hdf5/input.hpp"
#include "src/io/snapshot/dialect.hpp"
#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::io {

/// One quantity of one type: its dataset's name in the group PartTypeN, equal in all files; empty
/// if there is none.
struct Column {
  std::string name;
  bool integer = false;  ///< positions as integers: fractions of the box
  int bytes = 0;
  ColumnFault fault;  ///< the first that a file has
};

struct TypeLayout {
  Column position, velocity, mass, id;
  /// Number of the first particle in each file, and one more entry: the count.
  std::vector<Index> first_of_file;
};

inline constexpr std::array<Column TypeLayout::*, 4> all_columns{
    &TypeLayout::position, &TypeLayout::velocity, &TypeLayout::mass, &TypeLayout::id};

/// Whether a file may give a particle this mass: 0, too, which a catalogue refuses.
inline bool is_readable_mass(double value) { return std::isfinite(value) && value >= 0; }

struct Snapshot::State {
  SnapshotInfo info;
  std::vector<TypeLayout> layouts;  ///< by type
  std::shared_ptr<hdf5::CompleteDatasets> complete = std::make_shared<hdf5::CompleteDatasets>();
};

/// "PartType1/Coordinates".
std::string dataset_path(int type, const std::string& name);

// What the files of a snapshot hold, each looked into by one rank.

/// What one file holds of one type.
struct TypeInFile {
  TypeLayout layout;  ///< without first_of_file; empty if there are no particles
  Index count = 0;
};

/// The datasets of one type in one file.
struct Found {
  TypeLayout layout;  ///< without first_of_file
  std::optional<Index> rows;
  std::string rows_from;  ///< the dataset that has so many
};

/// What is wrong with one dataset is in its Column. InputError for datasets that differ in length.
Found find_datasets(const hdf5::InputFile& file, int type);

struct FileContents {
  std::string path;
  std::uint64_t sample = 0;  ///< of its bytes (sample_of), if it is one of several files
  HeaderCounts header;
  std::vector<TypeInFile> types;
  std::vector<std::string> notes;  ///< for the user
  hdf5::Origins origins;
};

/// Looks into the files number [files.first, files.first + files.count) of info.files. Throws for
/// one that is damaged or contradicts itself. Not collective.
std::vector<FileContents> look_into_files(const SnapshotInfo& info, Share files);

/// Fills state.layouts and state.info.types from what all files hold, in their order, and checks
/// the files against each other and their headers.
void combine_files(Snapshot::State& state, const std::vector<FileContents>& files,
                   const SnapshotOverrides& overrides);

/// The files on which those draw that were opened, directly and through others: rank 0 has what was
/// found in the opened ones. The ranks share the work of opening. Collective; all return the same.
std::vector<std::string> all_origins(const Communicator& comm, hdf5::Origins found);

/// As bytes that other ranks of the same program understand.
std::string to_bytes(Snapshot::State state);
std::string to_bytes(std::vector<FileContents> files);
std::string to_bytes(hdf5::Origins origins);
Snapshot::State state_from_bytes(std::string bytes);
/// Of several texts of to_bytes(), one after the other.
std::vector<FileContents> contents_from_bytes(std::string bytes);
hdf5::Origins origins_from_bytes(std::string bytes);

// Redshift space.

/// Moves the positions (N, 3) of these particles by their velocities, which it reads. InputError
/// for a velocity that is not finite.
template <class Real>
void move_to_redshift_space(const Snapshot& snapshot, const RedshiftSpace& space,
                            const TypeRange& rows, Span<Real> xyz);

}  // namespace zhalo::io
