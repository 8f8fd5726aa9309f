/// The command's two halves: what will be done, and doing it.
#pragma once

#include "apps/fof/plan.hpp"
#include "zhalo/io/staged_files.hpp"

namespace zhalo::fof_app {

/// Everything that is known without reading positions: all of a summary but `found`. Collective;
/// throws as the library does.
Plan plan_run(const Context& context, const io::Snapshot& snapshot, const Options& options);

/// Reads, searches and writes to `files`, for app::commit. The phases go to context.timers.
/// Collective.
Result find_groups(const Context& context, const io::Snapshot& snapshot, const Plan& plan,
                   io::StagedFiles& files);

}  // namespace zhalo::fof_app
