#include "apps/fof/linking.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "zhalo/core/error.hpp"

namespace zhalo::fof_app {
namespace {

/// Beyond these a unit is wrong: positions in float32 cannot tell such a length from none, or
/// everything is one group.
constexpr double min_ratio = 1e-6;
constexpr double largest_ratio = 100;

/// Not needed, and then it may be unknown, when the user gave the length itself.
void set_mean_separation(Linking& linking, const io::SnapshotInfo& info, const Options& options,
                         const io::MassSummary& masses) {
  try {
    linking.mean_separation =
        io::mean_separation(info, options.link_types, masses, options.mean_separation);
  } catch (const InputError& error) {
    if (!options.linking_length)
      throw InputError(fmt::format("{} (--meansep, --rlink-abs)", error.what()));
    linking.mean_separation_missing = error.what();
  }
}

void check_against_separation(Linking& linking, const std::string& unit) {
  if (!linking.ratio) return;
  const double ratio = *linking.ratio;
  const std::string what = fmt::format("the linking length {:.9g} {} is {:.3g} mean separations",
                                       linking.length, unit, ratio);
  if (ratio < min_ratio || ratio > largest_ratio) {
    throw InputError(fmt::format(
        "{} (must be {:g} to {:g}); check --rlink, and the unit of --rlink-abs or --meansep", what,
        min_ratio, largest_ratio));
  }
  if (ratio > 0.5) linking.warnings.push_back(what + ": groups may join everything; 0.2 is usual");
  if (ratio < 1e-3)
    linking.warnings.push_back(what + ": hardly any particles are that close; 0.2 is usual");
}

void check_against_box(Linking& linking, const Box& box, const std::string& unit) {
  if (box.volume() <= 0) return;
  const double side = *std::min_element(box.length.at, box.length.at + box.dimensions);
  const std::string what = fmt::format("the linking length {:.9g} {} is {:.3g} of the box",
                                       linking.length, unit, linking.length / side);
  if (box.any_periodic() && linking.length > side / 2) {
    throw InputError(
        what + ", more than half of a periodic one; check --rlink, --rlink-abs and their unit");
  }
  if (linking.length > side / 4) linking.warnings.push_back(what + ": check its unit");
}

}  // namespace

Linking choose_linking(const io::SnapshotInfo& info, const Options& options,
                       const io::MassSummary& masses, const Box& box) {
  Linking linking;
  set_mean_separation(linking, info, options, masses);
  if (options.linking_length) {
    linking.length = *options.linking_length;
    if (linking.mean_separation) linking.ratio = linking.length / linking.mean_separation->chosen;
  } else {
    linking.ratio = options.linking_ratio;
    linking.length = options.linking_ratio * linking.mean_separation->chosen;
  }
  check_against_separation(linking, info.units.length_name());
  check_against_box(linking, box, info.units.length_name());
  const bool derived =
      !options.linking_length && options.mean_separation.rule != io::MeanSeparationRule::given;
  if (derived && !linking.mean_separation->warning.empty())
    linking.warnings.push_back(linking.mean_separation->warning);
  return linking;
}

}  // namespace zhalo::fof_app
