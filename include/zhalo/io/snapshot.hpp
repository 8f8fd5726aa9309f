/// Reading particles from snapshots in HDF5: GADGET-2/3/4, AREPO, SWIFT, EAGLE, GIZMO; one file or
/// many.
#pragma once

#include <cstdint>
#include <memory>

#include "zhalo/comm/communicator.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/io/snapshot_info.hpp"

namespace zhalo::io {

/// A snapshot that has been opened and checked. Particles of a type are numbered over all files in
/// the order of the chunks; any range of them can be read. Reading is not collective: every rank
/// reads its own ranges (run it in Communicator::together, so that all ranks see an error). Files
/// are open only during a call; a call needs no more than a few MB beside the caller's memory.
/// Copies share their state.
class Snapshot {
 public:
  /// `path`: a file, any one of its chunks, a name without ".hdf5" or ".0.hdf5", or a directory
  /// with the files of one snapshot. Throws FileError for files that are missing, damaged or no
  /// HDF5, InputError for content that is no snapshot or contradicts itself: counts against
  /// datasets, shapes, a chunk of another snapshot.
  static Snapshot open(const std::string& path, const SnapshotOverrides& overrides = {});
  /// The same for all ranks: rank 0 looks into the files and tells the others. Collective; an error
  /// is everybody's.
  static Snapshot open(const Communicator& comm, const std::string& path,
                       const SnapshotOverrides& overrides = {});

  const SnapshotInfo& info() const;

  /// Particles [first, first + xyz.size() / 3) of a type, row by row, in the file's length unit as
  /// stored: not wrapped.
  void read_positions(int type, Index first, Span<float> xyz) const;
  void read_positions(int type, Index first, Span<double> xyz) const;
  /// As stored: times info().velocity_factor they are peculiar.
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
