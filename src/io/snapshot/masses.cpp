#include "zhalo/io/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "src/io/snapshot/state.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::io {
namespace {

/// Sums numbers in [0, 1) in fixed point, exactly to 2^-66, so that the result does not depend on
/// the order or on the ranks. Up to 2^40 of them.
class FixedPointSum {
 public:
  void add(double x) {
    for (Index& limb : limbs_) {
      x *= limb_size;
      const double whole = std::floor(x);
      limb += static_cast<Index>(whole);
      x -= whole;
    }
  }
  double total(const Communicator& comm) {
    comm.sum_in_place({limbs_.data(), static_cast<Index>(limbs_.size())});
    double sum = 0;
    for (std::size_t i = limbs_.size(); i-- > 0;)
      sum = (sum + static_cast<double>(limbs_[i])) / limb_size;
    return sum;
  }

 private:
  static constexpr double limb_size = 1 << 22;
  std::array<Index, 3> limbs_{};
};

constexpr Index block_size = 1 << 20;

/// Masses, and where they are.
struct MassBlock {
  Span<const double> masses;
  int type;
  Index first;  ///< particle of the type
};

using Visit = std::function<void(const MassBlock&)>;

/// Shows the masses of a rank's share to `visit`, block by block.
void for_each_block(const Snapshot& snapshot, const std::vector<TypeRange>& ranges,
                    const Visit& visit) {
  for (const auto& range : ranges) {
    std::vector<double> block(static_cast<std::size_t>(std::min(block_size, range.count)));
    for (Index done = 0; done < range.count; done += block_size) {
      const Span<double> part(block.data(), std::min(block_size, range.count - done));
      snapshot.read_masses(range.type, range.first + done, part);
      visit({part, range.type, range.first + done});
    }
  }
}

void widen(MassSummary& summary, double mass) {
  summary.min = std::min(summary.min, mass);
  summary.max = std::max(summary.max, mass);
}

[[noreturn]] void refuse_mass(const Snapshot& snapshot, const MassBlock& block, Index at) {
  throw InputError(
      fmt::format("'{}': particle {} of type {} has the mass {}, which is negative or not finite "
                  "(NaN or infinite): repair the snapshot, or leave the particle out",
                  snapshot.info().path, block.first + at, block.type, block.masses[at]));
}

/// The types whose masses must be read: this rank's share of them.
std::vector<TypeRange> listed_ranges(const Communicator& comm, const SnapshotInfo& info,
                                     const std::vector<int>& types) {
  std::vector<int> listed;
  Index count = 0;
  for (const int type : types) {
    const TypeSummary& here = info.types[static_cast<std::size_t>(type)];
    if (here.uniform_mass) continue;
    listed.push_back(type);
    count += here.count;
  }
  return ranges_of(info, listed, share_of(count, comm.rank(), comm.size()));
}

/// Smallest and largest mass of this rank's share and of the types that have one mass for all; the
/// number of all particles.
MassSummary scan_masses(const Snapshot& snapshot, const std::vector<int>& types,
                        const std::vector<TypeRange>& ranges) {
  MassSummary summary;
  summary.min = std::numeric_limits<double>::max();
  for (const int type : types) {
    const TypeSummary& here = snapshot.info().types[static_cast<std::size_t>(type)];
    summary.count += here.count;
    if (here.uniform_mass) widen(summary, *here.uniform_mass);
  }
  for_each_block(snapshot, ranges, [&](const MassBlock& block) {
    for (Index i = 0; i < block.masses.size(); ++i) {
      if (!is_readable_mass(block.masses[i])) refuse_mass(snapshot, block, i);
      widen(summary, block.masses[i]);
    }
  });
  return summary;
}

double sum_masses(const Communicator& comm, const Snapshot& snapshot, const std::vector<int>& types,
                  double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);  // masses times 2^-exponent are below 1, exactly
  FixedPointSum sum;
  for_each_block(snapshot, listed_ranges(comm, snapshot.info(), types),
                 [&](const MassBlock& block) {
                   for (const double mass : block.masses) sum.add(std::ldexp(mass, -exponent));
                 });
  double total = std::ldexp(sum.total(comm), exponent);
  for (const int type : types) {
    const TypeSummary& here = snapshot.info().types[static_cast<std::size_t>(type)];
    total += static_cast<double>(here.count) * here.uniform_mass.value_or(0);
  }
  return total;
}

}  // namespace

MassSummary summarise_masses(const Communicator& comm, const Snapshot& snapshot,
                             const std::vector<int>& types) {
  return together(comm, [&] {
    check_types(snapshot.info(), types);
    MassSummary summary = scan_masses(snapshot, types, listed_ranges(comm, snapshot.info(), types));
    summary.min = comm.min(summary.min);
    summary.max = comm.max(summary.max);
    const bool one_mass = summary.min == summary.max;
    summary.mean = one_mass ? summary.max
                            : sum_masses(comm, snapshot, types, summary.max) /
                                  static_cast<double>(summary.count);
    return summary;
  });
}

MatterContent matter_of(const SnapshotInfo& info, const std::vector<int>& types) {
  MatterContent matter;
  if (info.box_length) {
    const Vec3d box = *info.box_length;
    matter.volume = box[0] * box[1] * box[2];
  }
  matter.critical_density = info.cosmology.critical_density;
  matter.critical_density_source = info.cosmology.critical_density_source;
  matter.omega_matter = info.cosmology.omega_matter;
  matter.omega_baryon = info.cosmology.omega_baryon;
  matter.omega_cdm = info.cosmology.omega_cdm;
  // In all of these codes type 0 is gas; where there is some, 4 are stars and 5 black holes.
  matter.has_gas = !info.types.empty() && info.types[0].count + info.types[0].left_out > 0;
  matter.num_types = static_cast<int>(types.size());
  const auto is_baryonic = [](int type) { return type == 0 || type == 4 || type == 5; };
  matter.links_baryons = std::any_of(types.begin(), types.end(), is_baryonic);
  matter.links_dark_matter = !std::all_of(types.begin(), types.end(), is_baryonic);
  return matter;
}

}  // namespace zhalo::io
