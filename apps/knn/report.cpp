#include "apps/knn/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cmath>

#include "apps/knn/reductions.hpp"
#include "apps/report/report_parts.hpp"

namespace zhalo::knn_app {
namespace {

using app::bytes_text;
using app::Lines;

std::string queries_text(const Plan& plan) {
  if (!plan.query)
    return plan.options.include_self ? "the particles, each its own first neighbour"
                                     : "the particles, without themselves";
  const QuerySummary& query = *plan.query;
  if (!query.is_snapshot) return fmt::format("{} places in {}", query.count, query.path);
  return fmt::format("{} particles of type {} in {}", query.count, fmt::join(query.types, ", "),
                     query.path);
}

std::string neighbours_text(const Plan& plan) {
  const double radius = plan.options.max_radius;
  if (std::isinf(radius)) return fmt::format("{} of each", plan.options.k);
  return fmt::format("{} of each, within {:.10g} {}", plan.options.k, radius,
                     plan.snapshot.units.length_name());
}

std::string results_text(const Options& options) {
  std::vector<std::string> names;
  if (options.lists) names = {"Distances", "Indices"};
  for (const Quantity quantity : options.reductions) {
    const bool density = quantity == Quantity::density;
    names.push_back(traits_of(quantity).dataset +
                    (density ? fmt::format(" ({})", name_of(options.kernel)) : ""));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void add_columns(Lines& lines, const Result& found) {
  lines.plain(fmt::format("{:<20} {:>12} {:>12} {:>12}", "", "min", "mean", "max"));
  for (const ColumnSummary& column : found.columns) {
    const Index missing = column.total - column.finite;
    lines.plain(fmt::format("{:<20} {:>12.6g} {:>12.6g} {:>12.6g}{}", column.name, column.min,
                            column.mean, column.max,
                            missing == 0 ? "" : fmt::format("  {} without", missing)));
  }
}

void add_search(Lines& lines, const Plan& plan) {
  const KnnStatistics& search = *plan.found->search;
  const auto queries = static_cast<double>(std::max(plan.num_queries, Index{1}));
  lines.line("Searched", fmt::format("{:.1f} leaves and {:.1f} particles per query",
                                     static_cast<double>(search.leaves_visited) / queries,
                                     static_cast<double>(search.pairs_tested) / queries));
  if (plan.ranks.num_ranks > 1)
    lines.line("Sent", fmt::format("{} between ranks, {} particles fetched",
                                   bytes_text(static_cast<std::size_t>(search.bytes_sent)),
                                   search.fetched));
}

}  // namespace

std::string plan_text(const Plan& plan, bool verbose) {
  Lines lines;
  lines.plain("");
  lines.line("Particles",
             fmt::format("{} of type {}", plan.num_particles, fmt::join(plan.options.types, ", ")));
  lines.line("Queries", queries_text(plan));
  lines.line("Neighbours", neighbours_text(plan));
  lines.line("Results", results_text(plan.options));
  lines.line("Search box", app::box_text(plan.box, plan.snapshot.units.length_name()));
  add_rank_layout(lines, plan.ranks, verbose);
  if (verbose) app::add_inputs(lines, plan.snapshot.files);
  return describe(plan.snapshot) + std::move(lines).text() + (verbose ? estimate_text(plan) : "") +
         "\n";
}

std::string estimate_text(const Plan& plan) {
  Lines lines;
  const Estimate& estimate = plan.estimate;
  app::add_memory_estimate(lines, "particles, search and results", estimate, plan.ranks.num_ranks);
  lines.line("Output", fmt::format("{} in {}", bytes_text(estimate.output),
                                   plan.output.shown(plan.num_files)));
  return std::move(lines).text();
}

std::string result_text(const Plan& plan, bool verbose) {
  const Result& found = *plan.found;
  Lines lines;
  lines.plain("");
  add_columns(lines, found);
  if (plan.ranks.num_ranks > 1)
    lines.line("Per rank",
               fmt::format("{} to {} queries read", found.fewest_queries, found.max_queries));
  if (found.search) app::add_wrapped(lines, found.search->num_wrapped, "positions");
  const app::Run run{found.measured, found.seconds, plan.num_queries, plan.ranks.num_ranks == 1,
                     "queries"};
  add_phases(lines, run);
  lines.plain("");
  add_memory(lines, run);
  if (verbose && found.search) add_search(lines, plan);
  app::add_files(lines, found.files, found.num_files);
  return std::move(lines).text();
}

}  // namespace zhalo::knn_app
