#include "apps/knn/knn.hpp"

#include <fmt/format.h>
#include <cmath>
#include <deque>

#include "apps/cli/on_host.hpp"
#include "apps/cli/snapshot.hpp"
#include "apps/report/results.hpp"

namespace zhalo::knn_app {
namespace {

/// What was read; without queries the particles ask for themselves.
template <class Real>
struct Input {
  io::LoadedParticles<Real> particles;
  std::optional<io::LoadedParticles<Real>> queries;

  const io::LoadedParticles<Real>& asking() const { return queries ? *queries : particles; }
};

/// Queries may lie anywhere where the box has no ends that meet.
template <class Real>
void check_queries(const Context& context, const Particles<Real>& queries, const Plan& plan) {
  if (!plan.box.any_periodic()) return;
  app::check_wrapped(count_positions(context, queries, plan.box, {"queries", "query"}), plan.box,
                     plan.options.wrap_all, fmt::format("queries in '{}'", plan.query->path));
}

template <class Real>
Input<Real> load(const Context& context, const Sources& sources, const Plan& plan) {
  const ScopedTimer timer(context.timers, "read");
  const io::LoadOptions wanted{.velocities = any_needs_velocities(plan.options),
                               .ids = false,
                               .masses = any_needs_masses(plan.options)};
  const io::LoadOptions positions{.velocities = false, .ids = false, .masses = false};
  Input<Real> input;
  input.particles =
      io::load_particles<Real>(context, sources.particles, plan.options.types, wanted);
  app::check_wrapped(count_positions(context, input.particles.particles, plan.box), plan.box,
                     plan.options.wrap_all);
  if (sources.query_snapshot)
    input.queries =
        io::load_particles<Real>(context, *sources.query_snapshot, plan.query->types, positions);
  if (sources.query_points)
    input.queries = io::load_query_points<Real>(context, *sources.query_points);
  if (input.queries) check_queries(context, input.queries->particles, plan);
  return input;
}

KnnOptions options_of(const Plan& plan) {
  return {.k = plan.options.k,
          .include_self = plan.options.include_self,
          .max_radius = plan.options.max_radius};
}

KnnOutput output_of(const Plan& plan) {
  KnnOutput output{.distances = plan.options.lists, .indices = plan.options.lists};
  for (const Quantity quantity : plan.options.reductions)
    output.quantities.push_back({quantity, plan.options.kernel});
  return output;
}

/// Lists and reductions of one search.
template <class Real>
KnnResult<Real> find(const Context& context, const Input<Real>& input, const Plan& plan) {
  const Particles<Real>& particles = input.particles.particles;
  const KnnOutput output = output_of(plan);
  if (input.queries)
    return knn(context, Queries{input.queries->particles, particles}, plan.box, options_of(plan),
               output);
  return knn(context, particles, plan.box, options_of(plan), output);
}

/// Results as they were found, and where the writer can see them.
template <class Real>
struct Columns {
  KnnResult<Real> found;
  std::optional<app::OnHost<Real>> distance{};
  std::optional<app::OnHost<Index>> index{};
  std::deque<app::OnHost<double>> reduced{};
};

template <class Real>
io::Results results_of(const Context& context, Columns<Real>& columns,
                       const io::LoadedParticles<Real>& asking, const Plan& plan) {
  io::Results results = describe_results(plan);
  results.ranges = asking.ranges;
  if (plan.options.lists) {
    columns.distance.emplace(context.exec, columns.found.distance);
    columns.index.emplace(context.exec, columns.found.index);
    results.columns.push_back(distance_column(plan, columns.distance->view()));
    results.columns.push_back(index_column(plan, columns.index->view()));
  }
  for (std::size_t i = 0; i < plan.options.reductions.size(); ++i) {
    columns.reduced.emplace_back(context.exec, columns.found.quantities[i]);
    results.columns.push_back(
        reduced_column(plan, plan.options.reductions[i], columns.reduced.back().view()));
  }
  return results;
}

KnnStatistics over_ranks(const Communicator& comm, const KnnStatistics& mine) {
  KnnStatistics all = mine;
  for (Index KnnStatistics::*part : {&KnnStatistics::leaves_visited, &KnnStatistics::pairs_tested,
                                     &KnnStatistics::fetched, &KnnStatistics::bytes_sent})
    all.*part = comm.sum(mine.*part);
  return all;
}

const char* queries_name(const Plan& plan) { return plan.query ? "queries" : "particles"; }

/// No dispersion is infinite or NaN of itself.
std::string warning_of_dispersions(const Plan& plan, const ColumnSummary& column) {
  return fmt::format(
      "the velocity dispersions of {} of {} {} are not finite (NaN or infinite), because the "
      "velocities of neighbours are not: repair the snapshot, or leave these {} out",
      column.total - column.finite, column.total, queries_name(plan), queries_name(plan));
}

/// Masses are finite, so a density is infinite only where the kernel has no extent.
std::string warning_of_densities(const Plan& plan, const ColumnSummary& column) {
  const Options& options = plan.options;
  const std::string which =
      fmt::format("the densities of {} of {} {} are infinite", column.total - column.finite,
                  column.total, queries_name(plan));
  if (std::isinf(options.max_radius))
    return fmt::format(
        "{}, because all of the (at most {}) nearest particles are at the same position: take a "
        "larger -k",
        which, options.k);
  return fmt::format(
      "{}, because within --max-radius {:.10g} there is nothing but what is at their own "
      "position{}: leave --max-radius out, or make it larger",
      which, options.max_radius,
      !plan.query && options.include_self ? ", as a rule the particle itself" : "");
}

std::vector<std::string> warnings_of(const Plan& plan, const std::vector<ColumnSummary>& columns) {
  std::vector<std::string> warnings;
  for (const ColumnSummary& column : columns) {
    if (column.finite == column.total) continue;
    if (column.name == traits_of(Quantity::velocity_dispersion).dataset)
      warnings.push_back(warning_of_dispersions(plan, column));
    if (column.name == traits_of(Quantity::density).dataset)
      warnings.push_back(warning_of_densities(plan, column));
  }
  return warnings;
}

template <class Real>
Result find_neighbours_of(const Context& context, const Sources& sources, const Plan& plan,
                          io::StagedFiles& files) {
  const Input<Real> input = load<Real>(context, sources, plan);
  Columns<Real> columns{find(context, input, plan)};
  io::Results results;
  {
    const ScopedTimer timer(context.timers, "write");
    results = results_of(context, columns, input.asking(), plan);
    io::write_results(files, plan.output.name, results, plan.snapshot, plan.options.files);
  }
  const ScopedTimer timer(context.timers, "statistics");
  Result result;
  for (const io::ResultColumn& column : results.columns) {
    if (column.name != "Indices") result.columns.push_back(summarise(context.comm, column));
  }
  result.warnings = warnings_of(plan, result.columns);
  result.search = over_ranks(context.comm, columns.found.statistics);
  result.queries = app::read_per_rank(context.comm, input.asking().particles.num());
  return result;
}

}  // namespace

Result find_neighbours(const Context& context, const Sources& sources, const Plan& plan,
                       io::StagedFiles& files) {
  const auto devices = app::look_after_devices(context, device_need(plan));
  Result result = plan.double_positions ? find_neighbours_of<double>(context, sources, plan, files)
                                        : find_neighbours_of<float>(context, sources, plan, files);
  result.written = app::sync_to_disk(context, {{&files}, {}});
  return result;
}

}  // namespace zhalo::knn_app
