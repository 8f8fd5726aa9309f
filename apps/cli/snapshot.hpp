/// The snapshot that a command works on, and its box.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/options.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/domain/particles.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::app {

/// `box_length`: the user's word, if any. Collective.
io::Snapshot open_snapshot(const Context& context, const std::string& path,
                           std::optional<double> box_length);

/// Those of the types of `option` that the snapshot has particles of, and a warning for each other
/// one: early snapshots have neither stars nor black holes, and one command should do for all.
/// Throws InputError as io::check_types, but not if there are none of any.
std::vector<int> types_with_particles(const io::SnapshotInfo& info, const char* option,
                                      const std::vector<int>& types,
                                      std::vector<std::string>& warnings);

/// The same, where there must be some: InputError if there are none of any.
std::vector<int> present_types(const io::SnapshotInfo& info, const char* option,
                               const std::vector<int>& types, std::vector<std::string>& warnings);

/// The box to search in. A size that the user gave bounds the particles also without periodicity.
/// Throws InputError as io::simulation_box.
Box choose_box(const io::SnapshotInfo& info, const CommonOptions& options);

/// A few positions outside a periodic box are rounding, many are a wrong box: InputError then,
/// unless the user takes them in (CommonOptions::wrap_all). The counts are over all ranks; `what`
/// was counted.
void check_wrapped(const PositionCounts& counts, const Box& box, bool wrap_all,
                   const std::string& what = "particles");

/// Particles of these types.
Index count_of(const io::SnapshotInfo& info, const std::vector<int>& types);

/// Bytes of a particle's columns as they are read, on the mean over the particles of some types.
struct ColumnBytes {
  double position = 0;
  double velocity = 0;  ///< of the types that have any
  double mass = 0;      ///< of the types whose particles have masses of their own
  double id = 0;

  double all() const { return position + velocity + mass + id; }
};
ColumnBytes bytes_read(const io::SnapshotInfo& info, const std::vector<int>& types,
                       bool double_positions);

/// float cannot hold the positions of some of the types.
bool needs_double(const io::SnapshotInfo& info, const std::vector<int>& types);

}  // namespace zhalo::app
