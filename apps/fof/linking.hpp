/// From what the user and the snapshot say to a linking length and a box.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/fof/options.hpp"

namespace zhalo::fof_app {

struct Linking {
  double length = 0;            ///< in the snapshot's unit
  std::optional<double> ratio;  ///< in mean separations, if these are known
  std::optional<io::MeanSeparation> mean_separation;
  std::string mean_separation_missing;  ///< why there is none
  std::vector<std::string> warnings;    ///< sentences for the user
};

/// Throws InputError if the mean separation is needed and unknown, or the length makes no sense in
/// this box.
Linking choose_linking(const io::SnapshotInfo& info, const Options& options,
                       const io::MassSummary& masses, const Box& box);

}  // namespace zhalo::fof_app
