#include "apps/knn/knn.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "apps/cli/options.hpp"
#include "apps/cli/process.hpp"
#include "apps/cli/run_files.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::knn_app {

std::string name_of(SphKernel kernel) {
  switch (kernel) {
    case SphKernel::cubic_spline: return "cubic spline";
    case SphKernel::wendland_c2: return "Wendland C2";
    case SphKernel::wendland_c4: return "Wendland C4";
  }
  return {};
}

bool any_needs_masses(const Options& options) {
  return std::any_of(options.reductions.begin(), options.reductions.end(),
                     [](Quantity quantity) { return needs_of(quantity).masses; });
}
bool any_needs_velocities(const Options& options) {
  return std::any_of(options.reductions.begin(), options.reductions.end(),
                     [](Quantity quantity) { return needs_of(quantity).velocities; });
}
bool needs_mass_column(const Plan& plan) {
  if (!any_needs_masses(plan.options)) return false;
  const std::vector<int>& types = plan.options.types;
  const auto mass_of = [&](int type) {
    return plan.snapshot.types.at(static_cast<std::size_t>(type)).uniform_mass;
  };
  return !mass_of(types.front()) || std::any_of(types.begin(), types.end(), [&](int type) {
    return mass_of(type) != mass_of(types.front());
  });
}

namespace {

/// Lengths in other units would be compared number by number.
void check_units(const io::SnapshotInfo& particles, const io::SnapshotInfo& queries) {
  const io::Units& ours = particles.units;
  const io::Units& theirs = queries.units;
  const bool same = std::abs(ours.length_in_cm - theirs.length_in_cm) <= 1e-3 * ours.length_in_cm;
  if (same && ours.h_free == theirs.h_free) return;
  throw InputError(
      fmt::format("'{}' has lengths in {} and the queries in '{}' in {}: they must be the same",
                  particles.path, ours.length_name(), queries.path, theirs.length_name()));
}

std::optional<QueryInput> summarise_queries(const Sources& sources) {
  if (const auto& points = sources.query_points)
    return QueryInput{points->path,
                      false,
                      {},
                      {points->path},
                      points->origins,
                      points->count,
                      points->double_coordinates};
  if (!sources.query_snapshot) return std::nullopt;
  const io::SnapshotInfo& info = sources.query_snapshot->info();
  const std::vector<int>& types = sources.query_types;
  return QueryInput{info.path,
                    true,
                    types,
                    info.files,
                    info.origins,
                    app::count_of(info, types),
                    app::needs_double(info, types)};
}

/// What the quantity needs and the type lacks, or nothing.
const char* missing_column(const QuantityNeeds& wanted, const io::TypeSummary& has) {
  if (wanted.velocities && !has.has_velocities) return "velocities";
  return wanted.masses && has.mass_source == "none" ? "masses" : nullptr;
}

void check_columns(const Sources& sources, const Options& options) {
  const io::SnapshotInfo& info = sources.particles.info();
  for (const Quantity quantity : options.reductions) {
    for (const int type : sources.types) {
      const char* missing =
          missing_column(needs_of(quantity), info.types.at(static_cast<std::size_t>(type)));
      if (missing != nullptr)
        throw InputError(fmt::format("'{}' has no {} of particle type {}, which --reduce {} needs",
                                     info.path, missing, type, traits_of(quantity).word));
    }
  }
  io::check_readable(info, sources.types,
                     {.velocities = any_needs_velocities(options),
                      .ids = false,
                      .masses = any_needs_masses(options)});
}

std::vector<std::string> warnings_of(const Sources& sources, const Plan& plan) {
  std::vector<std::string> warnings = plan.snapshot.warnings;
  warnings.insert(warnings.end(), sources.warnings.begin(), sources.warnings.end());
  if (sources.query_snapshot) {
    const std::vector<std::string>& of_queries = sources.query_snapshot->info().warnings;
    std::copy_if(of_queries.begin(), of_queries.end(), std::back_inserter(warnings),
                 [&](const std::string& warning) {  // it may be the same snapshot
                   return std::count(warnings.begin(), warnings.end(), warning) == 0;
                 });
  }
  const Index others = plan.num_particles - (plan.options.include_self ? 0 : 1);
  if (plan.options.k > others)
    warnings.push_back(fmt::format(
        "-k is {}, but each query has only {} particles around it: the rest of its row is empty",
        plan.options.k, others));
  if (sources.query_snapshot && sources.query_snapshot->info().box_length &&
      plan.snapshot.box_length) {
    const Vec3d ours = *plan.snapshot.box_length,
                theirs = *sources.query_snapshot->info().box_length;
    if (ours[0] != theirs[0] || ours[1] != theirs[1] || ours[2] != theirs[2])
      warnings.push_back(fmt::format(
          "the box of '{}' has sides {:g}, {:g}, {:g}, that of the queries {:g}, {:g}, {:g}",
          plan.snapshot.path, ours[0], ours[1], ours[2], theirs[0], theirs[1], theirs[2]));
  }
  return warnings;
}

app::RunFiles files_of(const Plan& plan) {
  app::RunFiles files{plan.snapshot.files,
                      {plan.output},
                      {{"--json", plan.options.json}},
                      plan.num_files,
                      plan.snapshot.origins};
  if (plan.query) {
    files.inputs.insert(files.inputs.end(), plan.query->files.begin(), plan.query->files.end());
    files.origins.insert(files.origins.end(), plan.query->origins.begin(),
                         plan.query->origins.end());
  }
  return files;
}

/// Bytes per particle of the search at its peak, beyond the columns: keys, orders, sorted
/// positions, tree.
std::size_t search_bytes(std::size_t real_bytes, int ranks) {
  return 40 + 6 * real_bytes + (ranks > 1 ? 32 : 0);
}

/// The lists of a chunk, their buffers, and what goes with each rank.
constexpr std::size_t rank_bytes = 128 << 20;

/// Of a query's row in the results.
std::size_t row_bytes(const Plan& plan, std::size_t real_bytes) {
  const std::size_t list = static_cast<std::size_t>(plan.options.k) * (real_bytes + sizeof(Index));
  return (plan.options.lists ? list : 0) + plan.options.reductions.size() * sizeof(double);
}

/// Positions, masses and velocities as they are read. Masses and velocities also as double, twice:
/// in the order of the snapshot, and in that of the search.
double columns_bytes(const Plan& plan) {
  const app::ColumnBytes read =
      app::bytes_read(plan.snapshot, plan.options.types, plan.double_positions);
  constexpr double twice = 2 * sizeof(double);
  const double velocity = any_needs_velocities(plan.options) ? read.velocity + 3 * twice : 0;
  const double mass = needs_mass_column(plan) ? read.mass + twice : 0;
  return read.position + velocity + mass;
}

/// Of the run that the rest of the plan describes.
app::Estimate<std::size_t> estimate_needs(const Plan& plan) {
  const std::size_t real_bytes = plan.double_positions ? sizeof(double) : sizeof(float);
  const auto particles = static_cast<std::size_t>(plan.num_particles);
  const auto queries = static_cast<std::size_t>(plan.num_queries);
  const auto ranks = static_cast<std::size_t>(plan.ranks.num_ranks);
  const std::size_t search = search_bytes(real_bytes, plan.ranks.num_ranks);
  const std::size_t results = queries * row_bytes(plan, real_bytes);
  app::Estimate<std::size_t> estimate;
  estimate.output = results + app::header_bytes(plan.num_files);
  const double columns = static_cast<double>(plan.num_particles) * columns_bytes(plan);
  estimate.memory = results + static_cast<std::size_t>(std::ceil(columns)) + particles * search +
                    ranks * rank_bytes;
  if (plan.query) estimate.memory += queries * (3 * real_bytes + search);
  estimate.memory_per_rank = (estimate.memory + ranks - 1) / ranks;
  return estimate;
}

}  // namespace

Sources open_sources(const Context& context, const Options& options) {
  Sources sources{app::open_snapshot(context, options.snapshot, options.box_length), {}};
  sources.types =
      app::present_types(sources.particles.info(), "--types", options.types, sources.warnings);
  check_columns(sources, options);
  if (options.query.empty()) return sources;
  sources.query_points = io::find_query_points(context.comm, options.query);
  if (sources.query_points) {
    if (!options.query_types.empty())
      throw InputError(
          fmt::format("--query-types is given, but '{}' is a list of query points, without types",
                      options.query));
    return sources;
  }
  sources.query_snapshot = app::open_snapshot(context, options.query, options.box_length);
  sources.query_types = app::present_types(
      sources.query_snapshot->info(), "--query-types",
      options.query_types.empty() ? sources.types : options.query_types, sources.warnings);
  check_units(sources.particles.info(), sources.query_snapshot->info());
  return sources;
}

Plan plan_run(const Context& context, const Sources& sources, const Options& options) {
  Plan plan;
  plan.options = options;
  plan.options.types = sources.types;
  plan.snapshot = sources.particles.info();
  plan.num_particles = app::count_of(plan.snapshot, sources.types);
  plan.query = summarise_queries(sources);
  plan.num_queries = plan.query ? plan.query->count : plan.num_particles;
  plan.double_positions = app::needs_double(plan.snapshot, sources.types) ||
                          (plan.query && plan.query->double_positions);
  plan.ranks = app::survey_ranks(context, options.exec.processor == Processor::automatic);
  plan.box = app::choose_box(plan.snapshot, options);
  plan.output = app::name_output(
      options.output, fmt::format("knn_{:03d}.hdf5", plan.snapshot.number), io::Content::results);
  plan.warnings = warnings_of(sources, plan);
  plan.num_files = options.files.num_files_on(plan.ranks.num_ranks);
  app::check_names(context.comm, files_of(plan), plan.warnings);
  plan.estimate = estimate_needs(plan);
  app::warn_of_memory(
      context,
      {static_cast<double>(plan.estimate.memory_per_rank),
       fmt::format("{} queries of {} particles", plan.num_queries, plan.num_particles),
       "use more machines"},
      plan.warnings);
  app::check_device_need(context, device_need(plan), options.dry_run, plan.warnings);
  return plan;
}

namespace {

// What a run needs of a device: the calls of run.cpp, one after the other.

double bytes_of_device(const Plan& plan, int ranks) {
  const SearchSize size{plan.num_particles, ranks, plan.double_positions};
  const QuantityNeeds needs{needs_mass_column(plan), any_needs_velocities(plan.options)};
  const NeighbourSize search{.num_queries = plan.query ? plan.num_queries : 0,
                             .k = plan.options.k,
                             .bytes_per_column = needs.bytes_per_particle(),
                             .lists = plan.options.lists,
                             .num_quantities = static_cast<int>(plan.options.reductions.size())};
  const app::ColumnBytes column =
      app::bytes_read(plan.snapshot, plan.options.types, plan.double_positions);
  double bytes_read = column.position;
  if (any_needs_velocities(plan.options)) bytes_read += column.velocity;
  if (any_needs_masses(plan.options)) bytes_read += column.mass;
  MemoryTally tally;
  tally.take(static_cast<double>(plan.num_particles) / ranks * bytes_read);
  if (plan.query) tally.take(static_cast<double>(plan.num_queries) / ranks * column.position);
  tally.call(knn_need(size, search));
  return tally.peak();
}

}  // namespace

app::DeviceNeed device_need(const Plan& plan) {
  return {fmt::format("{} neighbours among {} particles", plan.options.k, plan.num_particles),
          [plan](int ranks) { return bytes_of_device(plan, ranks); }};
}

}  // namespace zhalo::knn_app
