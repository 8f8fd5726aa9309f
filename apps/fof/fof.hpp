/// The command `fof`: its options, its plan, what a run finds, and its report.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/report.hpp"
#include "apps/report/results.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/cosmology/cosmology.hpp"
#include "zhalo/io/snapshot.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::fof_app {

/// What joins the groups of linked particles.
struct Attach {
  std::vector<int> types;          ///< none: nothing is attached
  double radius = 4;               ///< to the nearest linked particle, in linking lengths
  bool only_linked_count = false;  ///< for the smallest group
};

struct Options : app::CommonOptions {
  double linking_ratio = 0.2;            ///< in units of the mean separation
  std::optional<double> linking_length;  ///< instead of the ratio, in the snapshot's length unit
  MeanSeparationRequest mean_separation;
  Index min_size = 32;
  std::vector<int> link_types{1};
  Attach attach;
  std::string output = "fof_output";
  bool membership = false;
};

/// Linked and attached ones.
std::vector<int> all_types(const std::vector<int>& link_types, const Attach& attach);

/// The options, or a text (help, version) to print instead of running. Throws InputError for
/// anything that makes no sense by itself.
std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

struct Linking {
  double length = 0;            ///< in the snapshot's unit
  std::optional<double> ratio;  ///< in mean separations, if these are known
  std::optional<MeanSeparation> mean_separation;
  std::string mean_separation_missing;  ///< why there is none
  std::vector<std::string> warnings;    ///< sentences for the user
};

/// Bytes. Groups are bounded by all particles being in groups of the smallest size.
struct Estimate {
  std::size_t memory = 0;           ///< for the particles and the search, at most, over all ranks
  std::size_t memory_per_rank = 0;  ///< at most
  std::size_t catalogue_limit = 0;
  std::size_t membership = 0;  ///< 0 if it is not asked for
};

struct Plan {
  io::SnapshotInfo snapshot;
  std::vector<int> link_types;
  Attach attach;
  Index num_linked = 0;
  Index num_attachable = 0;       ///< particles of the types that are attached
  bool double_positions = false;  ///< searched in float64: some type is stored so
  Index min_size = 0;
  bool membership = false;  ///< written, too
  io::WriteOptions files;
  app::RankLayout ranks;
  Box box;
  bool wrap_all = false;
  Linking linking;
  Estimate estimate;
  std::string output;
  std::vector<std::string> warnings;

  Index num_particles() const { return num_linked + num_attachable; }
};

/// Collective; throws as the library does, and InputError if the linking length makes no sense.
Plan plan_run(const Context& context, const io::Snapshot& snapshot, const Options& options);

/// What the plan needs of the memory of devices.
app::DeviceNeed device_need(const Plan& plan);

struct GroupRow {
  Index length = 0;
  double mass = 0;
  Vec3d centre;
  std::optional<Vec3d> velocity;  ///< none if the snapshot has none
};

/// What the search sent between ranks.
struct Exchanged {
  app::Spread searched;  ///< particles on a rank
  app::Spread ghosts;    ///< particles that a rank sent to others
  Index edges = 0;       ///< between sets on different ranks, over all ranks
  Index rounds = 0;      ///< until all ranks agreed on the groups
  app::Spread bytes;     ///< that a rank sent
};

/// What the search found and what it took.
struct Result : app::CommonResult {
  Index num_wrapped = 0;
  Index num_groups = 0;
  Index num_members = 0;
  std::vector<Index> members_by_type;
  std::string checksum;  ///< of the catalogue: the same for any ranks, threads and files
  app::ReadPerRank particles;
  std::vector<GroupRow> largest;  ///< at most ten; on rank 0
  Exchanged exchanged;
};

/// What was found in the snapshot, and what is going to be searched. `verbose`: of the text.
app::Report plan_report(const Plan& plan, bool verbose);

/// What was found, how long it took, and where it lies.
app::Rows result_rows(const Plan& plan, const Result& result, bool verbose);

}  // namespace zhalo::fof_app
