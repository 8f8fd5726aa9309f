/// The command's two halves: what will be done, and doing it.
#pragma once

#include <optional>

#include "apps/density/plan.hpp"
#include "apps/report/results.hpp"
#include "zhalo/io/halo_list.hpp"
#include "zhalo/io/snapshot.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::density_app {

struct Sources {
  io::Snapshot particles;
  io::HaloList haloes;  ///< on rank 0, if there are to be any
};

/// Collective; throws as the library does.
Sources open_sources(const Context& context, const Options& options);

/// Everything that is known without reading positions: all of a summary but `found`. Collective;
/// throws as the library does.
Plan plan_run(const Context& context, const Sources& sources, const Options& options);

/// The files of a run, found to be writable.
struct Outputs {
  std::optional<io::StagedFiles> field;
  app::TextFile power;
  app::TextFile image;

  /// Collective; FileError.
  Outputs(const Communicator& comm, const Plan& plan);

  app::Results results();
};

/// Reads, paints, transforms and writes to `outputs`, for app::commit. The phases go to
/// context.timers. Collective. For a run that writes nothing: throws FileError if one of its
/// results could not be written. Collective.
void check_outputs(const Communicator& comm, const Plan& plan);

Result make_density(const Context& context, const Sources& sources, const Plan& plan,
                    Outputs& outputs);

}  // namespace zhalo::density_app
