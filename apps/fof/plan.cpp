#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "apps/fof/run.hpp"
#include "zhalo/io/load.hpp"

namespace zhalo::fof_app {
namespace {

bool needs_double(const Summary& plan) {
  return std::any_of(plan.link_types.begin(), plan.link_types.end(),
                     [&](int type) { return plan.snapshot.types[static_cast<std::size_t>(type)].double_coordinates; });
}

std::string place_of(const Options& options, const Exec& exec) {
  const DeviceReport report = query_devices();
  const bool fell_back = options.device == Device::automatic && report.built_with_cuda && report.num_devices == 0;
  return describe(exec) + (fell_back ? fmt::format(" (no CUDA device: {})", report.reason) : "");
}

}  // namespace

Exec choose_exec(const Options& options) {
  switch (options.device) {
    case Device::host: return host_exec(options.threads);
    case Device::cuda: return cuda_exec();
    case Device::automatic: break;
  }
  return automatic_exec(options.threads);
}

io::Snapshot open_snapshot(const Context& context, const Options& options) {
  const ScopedTimer timer(context.timers, "open");
  io::SnapshotOverrides overrides;
  overrides.box_length = options.box_length;
  std::optional<io::Snapshot> snapshot;
  context.comm.together([&] { snapshot = io::Snapshot::open(options.snapshot, overrides); });
  io::check_types(snapshot->info(), options.link_types);
  return *snapshot;
}

Summary plan_run(const Context& context, const io::Snapshot& snapshot, const Options& options) {
  Summary plan;
  plan.snapshot = snapshot.info();
  plan.link_types = options.link_types;
  plan.min_size = options.min_size;
  plan.membership = options.membership;
  plan.num_ranks = context.comm.size();
  plan.runs_on = place_of(options, context.exec);
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
