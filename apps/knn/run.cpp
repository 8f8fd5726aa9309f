#include "apps/knn/knn.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>

#include "apps/cli/command.hpp"
#include "apps/cli/options.hpp"
#include "apps/report/results.hpp"

namespace zhalo::knn_app {
namespace {

/// What a reader of any of the datasets must know.
std::vector<io::Note> common_notes(const Plan& plan) {
  const Options& options = plan.options;
  return {{"K", Index{options.k}},
          {"SelfIncluded", Index{!plan.query && options.include_self ? 1 : 0}},
          {"Periodic", Index{plan.box.any_periodic() ? 1 : 0}},
          {"MaxRadius", options.max_radius}};
}

std::vector<io::Note> list_notes(const Plan& plan, io::Note missing) {
  std::vector<io::Note> notes = common_notes(plan);
  notes.push_back(
      {"Order", std::string("by squared distance in the precision of the search, then by index")});
  notes.push_back(std::move(missing));
  return notes;
}

std::vector<int> sorted(std::vector<int> types) {
  std::sort(types.begin(), types.end());
  return types;
}

std::string meaning_of_index(const Plan& plan) {
  const std::vector<int> types = sorted(plan.options.types);
  if (types.size() == 1)
    return fmt::format("row in PartType{} of the snapshot, counted over its files", types[0]);
  return fmt::format(
      "number over the particles of types {}: all of the lowest type first, each type in the order "
      "of the snapshot's files; those of a type begin at FirstIndex of /Parameters",
      fmt::join(types, ", "));
}

/// Index of the first particle of each type, and the number of all.
std::vector<Index> first_indices(const Plan& plan, const std::vector<int>& types) {
  std::vector<Index> first{0};
  for (const int type : types)
    first.push_back(first.back() + plan.snapshot.types.at(static_cast<std::size_t>(type)).count);
  return first;
}

/// The datasets, and how they were made, without values.
io::Results describe_results(const Plan& plan) {
  const std::vector<int> types = sorted(plan.options.types);
  io::Results results;
  results.types = types;
  results.parameters = common_notes(plan);
  results.parameters.push_back({"Types", types});
  results.parameters.push_back({"FirstIndex", first_indices(plan, types)});
  results.parameters.push_back(
      {"Precision", std::string(plan.double_positions ? "float64" : "float32")});
  if (!plan.query) return results;
  results.types =
      plan.query->is_snapshot ? sorted(plan.query->types) : std::vector<int>{io::no_type};
  results.parameters.push_back({"Query", app::whole_path(plan.query->path)});
  return results;
}

io::ResultColumn distance_column(const Plan& plan,
                                 std::variant<Span<const float>, Span<const double>> values) {
  io::ResultColumn column;
  column.name = "Distances";
  std::visit([&](const auto& span) { column.values = span; }, values);
  column.width = plan.options.k;
  column.meaning = {.a = 1, .h = -1, .length = 1, .text = "Distances of the K nearest particles"};
  column.notes = list_notes(plan, {"Missing", std::numeric_limits<double>::infinity()});
  return column;
}

io::ResultColumn index_column(const Plan& plan, Span<const Index> values) {
  io::ResultColumn column;
  column.name = "Indices";
  column.values = values;
  column.width = plan.options.k;
  column.meaning = {.text = "Which the K nearest particles are: " + meaning_of_index(plan)};
  column.notes = list_notes(plan, {"Missing", Index{-1}});
  return column;
}

io::ResultColumn reduced_column(const Plan& plan, Quantity quantity, Span<const double> values) {
  const QuantityTraits& traits = traits_of(quantity);
  io::ResultColumn column;
  column.name = traits.dataset;
  column.values = values;
  column.meaning = io::meaning_of(traits.unit, traits.text);
  column.notes = common_notes(plan);
  if (quantity == Quantity::density)
    column.notes.push_back({"Kernel", name_of(plan.options.kernel)});
  return column;
}

struct Sums {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  Index finite = 0;
  Index total = 0;
};

template <class T>
Sums sums_of(Span<const T> values, Index width) {
  Sums sums;
  for (Index i = width - 1; i < values.size(); i += width) {
    const auto value = static_cast<double>(values[i]);
    ++sums.total;
    if (!std::isfinite(value)) continue;
    ++sums.finite;
    sums.sum += value;
    sums.min = std::min(sums.min, value);
    sums.max = std::max(sums.max, value);
  }
  return sums;
}

/// Over the finite numbers of all ranks; of lists the last column, that of the k-th neighbour.
/// Collective.
ColumnSummary summarise(const Communicator& comm, const io::ResultColumn& column) {
  const Sums mine = std::visit(
      [&](const auto& values) { return sums_of(values, std::max(column.width, Index{1})); },
      column.values);
  ColumnSummary summary;
  summary.name = column.name;
  summary.finite = comm.sum(mine.finite);
  summary.total = comm.sum(mine.total);
  const double min = comm.min(mine.min), max = comm.max(mine.max), sum = comm.sum(mine.sum);
  if (summary.finite == 0) return summary;
  summary.min = min;
  summary.max = max;
  summary.mean = sum / static_cast<double>(summary.finite);
  return summary;
}

// The search.

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

/// Reads, searches and writes to `files`, for app::commit. The phases go to context.timers.
/// Collective.
Result find_neighbours(const Context& context, const Sources& sources, const Plan& plan,
                       io::StagedFiles& files) {
  const auto devices = app::look_after_devices(context, device_need(plan));
  Result result = plan.double_positions ? find_neighbours_of<double>(context, sources, plan, files)
                                        : find_neighbours_of<float>(context, sources, plan, files);
  result.written = app::sync_to_disk(context, {{&files}, {}});
  return result;
}

// The command. knn SNAPSHOT: the k nearest neighbours of a snapshot's particles, and what follows
// from them.

void run(const Context& context, const Options& options, app::Progress& progress) {
  app::RequestedRun run(context.comm, options, progress);
  const Sources sources = open_sources(context, options);
  const Plan plan = plan_run(context, sources, options);
  const std::string& folder = plan.output.directory;
  app::run_planned(
      run, plan_report(plan, run.is_verbose()), [&] { app::check_directory(context.comm, folder); },
      [&] { return io::StagedFiles(context.comm, folder); },
      [&](io::StagedFiles& files, app::Report& report) {
        Result result = find_neighbours(context, sources, plan, files);
        app::conclude(context, progress, report, result);
        return result_rows(plan, result, run.is_verbose());
      });
}

}  // namespace
}  // namespace zhalo::knn_app

int main(int argc, char** argv) {
  return zhalo::app::run_main("knn", argc, argv, zhalo::knn_app::parse_options,
                              zhalo::knn_app::run);
}
