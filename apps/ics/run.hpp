/// The command's two halves: what will be done, and doing it.
#pragma once

#include "apps/ics/plan.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/io/snapshot_file.hpp"

namespace zhalo::ics_app {

/// Planes of cells: the particles' order in the files is then that of their ids for any number of
/// ranks.
Decomposition decompose(const Options& options, int num_ranks);

/// Of the snapshot.
io::SnapshotHeader header_of(const Plan& plan);

/// Everything that is known beforehand: all of a summary but `made`. Collective; throws as the
/// library does.
Plan plan_run(const Context& context, const Options& options);

/// Makes the particles and writes them to `files`, for app::commit. The phases go to
/// context.timers. Collective.
Made make_particles(const Context& context, const Plan& plan, io::StagedFiles& files);

}  // namespace zhalo::ics_app
