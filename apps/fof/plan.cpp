#include <fmt/format.h>
#include <algorithm>

#include "apps/fof/run.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::fof_app {
namespace {

bool needs_double(const Summary& plan) {
  return std::any_of(plan.link_types.begin(), plan.link_types.end(),
                     [&](int type) { return plan.snapshot.types[static_cast<std::size_t>(type)].double_coordinates; });
}

}  // namespace

io::Snapshot open_snapshot(const Context& context, const Options& options) {
  const ScopedTimer timer(context.timers, "open");
  io::SnapshotOverrides overrides;
  overrides.box_length = options.box_length;
  io::Snapshot snapshot = io::Snapshot::open(context.comm, options.snapshot, overrides);
  io::check_types(snapshot.info(), options.link_types);
  return snapshot;
}

Summary plan_run(const Context& context, const io::Snapshot& snapshot, const Options& options) {
  Summary plan;
  plan.snapshot = snapshot.info();
  plan.link_types = options.link_types;
  plan.min_size = options.min_size;
  plan.membership = options.membership;
  plan.files = options.files;
  plan.places = survey_places(context, options.place.processor == Processor::automatic);
  plan.output = options.output;
  plan.box = choose_box(plan.snapshot, options);
  const ScopedTimer timer(context.timers, "masses");
  const io::MassSummary masses = io::summarise_masses(context.comm, snapshot, options.link_types);
  plan.num_particles = masses.count;
  plan.linking = choose_linking(plan.snapshot, options, masses, plan.box);
  plan.double_positions = needs_double(plan);
  plan.estimate = estimate_needs(plan);
  return plan;
}

}  // namespace zhalo::fof_app
