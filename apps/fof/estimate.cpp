#include <algorithm>

#include "apps/fof/plan.hpp"

namespace zhalo::fof_app {
namespace {

/// Bytes per particle of the search at its peak, beyond the columns: keys, orders, sorted
/// positions, tree, labels. Measured from 34 to 46 with float and 48 to 52 with double, for
/// clustered and uniform particles, b = 0.01 to 0.5.
///
/// On several ranks up to 14 more, for 16384 to 131072 particles a rank and b up to 1.3 mean
/// separations: what is sent, and ghosts.
std::size_t search_bytes(std::size_t real_bytes, int ranks) {
  return 36 + 3 * real_bytes + (ranks > 1 ? 24 : 0);
}

/// More per attached particle while its nearest linked one is searched. Measured 5 with float and
/// 14 with double, where they are many.
std::size_t attach_bytes(std::size_t real_bytes) { return 8 + 2 * real_bytes; }

/// A group in memory, as a row and in the buffers of the writer.
constexpr std::size_t group_bytes = 380;

/// A row of the catalogue file: lengths, offsets and properties, and those per particle type.
std::size_t row_bytes(const io::SnapshotInfo& info) {
  const std::size_t columns = std::max<std::size_t>(6, info.types.size());
  return 200 + 24 * columns;
}

/// Of a file, with room for the groups and attributes that it has.
constexpr std::size_t header_bytes = 64 << 10;

/// Of each kind.
std::size_t num_files(const Plan& plan) {
  const Index numbered = plan.files.num_files > 0 ? plan.files.num_files : plan.ranks.num_ranks;
  return static_cast<std::size_t>(numbered + (plan.files.master ? 1 : 0));
}

}  // namespace

Estimate estimate_needs(const Plan& plan) {
  const std::size_t real_bytes = plan.double_positions ? sizeof(double) : sizeof(float);
  Estimate estimate;
  for (const int type : all_types(plan.link_types, plan.attach)) {
    const io::TypeSummary& t = plan.snapshot.types.at(static_cast<std::size_t>(type));
    const auto count = static_cast<std::size_t>(t.count);
    const std::size_t velocity = t.has_velocities ? 3 * real_bytes : 0;
    const std::size_t mass = t.uniform_mass ? 0 : real_bytes;
    const std::size_t id = t.has_ids ? sizeof(std::uint64_t) : 0;
    estimate.memory += count * (3 * real_bytes + velocity + mass + id +
                                search_bytes(real_bytes, plan.ranks.num_ranks));
    const bool attached = std::count(plan.attach.types.begin(), plan.attach.types.end(), type) > 0;
    if (attached) estimate.memory += count * attach_bytes(real_bytes);
    estimate.catalogue_limit += count * id;
    if (plan.membership) estimate.membership += count * (sizeof(Index) + id);
  }
  const Index counted = plan.attach.only_linked_count ? plan.num_linked : plan.num_particles();
  const auto max_groups =
      static_cast<std::size_t>(std::min(plan.num_linked, counted / plan.min_size));
  estimate.catalogue_limit +=
      num_files(plan) * header_bytes + max_groups * row_bytes(plan.snapshot);
  estimate.memory += max_groups * group_bytes;
  const auto ranks = static_cast<std::size_t>(plan.ranks.num_ranks);
  estimate.memory_per_rank = (estimate.memory + ranks - 1) / ranks;
  if (plan.membership) estimate.membership += num_files(plan) * header_bytes;
  return estimate;
}

}  // namespace zhalo::fof_app
