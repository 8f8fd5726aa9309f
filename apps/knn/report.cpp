#include "apps/knn/knn.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "apps/report/report.hpp"

namespace zhalo::knn_app {
namespace {

using app::bytes_text;
using app::Json;
using app::line;

std::string queries_text(const Plan& plan) {
  if (!plan.query)
    return plan.options.include_self ? "the particles, themselves included"
                                     : "the particles, without themselves";
  const QueryInput& query = *plan.query;
  if (!query.is_snapshot) return fmt::format("{} query points in {}", query.count, query.path);
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

Json json_of(const Options& options) {
  Json reductions = Json::array();
  for (const Quantity quantity : options.reductions) reductions.push_back(traits_of(quantity).word);
  return {{"k", options.k},
          {"types", options.types},
          {"reductions", reductions},
          {"lists", options.lists},
          {"kernel", name_of(options.kernel)},
          {"include_self", options.include_self},
          {"max_radius", options.max_radius}};
}

Json json_of(const std::optional<QueryInput>& query) {
  if (!query) return nullptr;
  return {{"path", query->path},
          {"is_snapshot", query->is_snapshot},
          {"types", query->types},
          {"count", query->count},
          {"position_bits", query->double_positions ? 64 : 32}};
}

app::Rows plan_rows(const Plan& plan, bool verbose) {
  const std::string unit = plan.snapshot.units.length_name();
  return {
      app::snapshot_row(plan.snapshot),
      {"", {{"options", json_of(plan.options)}}},
      {line("Particles", "{} of type {}", plan.num_particles, fmt::join(plan.options.types, ", ")),
       {{"num_particles", plan.num_particles}}},
      {app::left_out_line(plan.snapshot, plan.options.types, "--types", plan.options.types)},
      {line("Queries", "{}", queries_text(plan)),
       {{"query", json_of(plan.query)}, {"num_queries", plan.num_queries}}},
      {line("Neighbours", "{}", neighbours_text(plan))},
      {line("Results", "{}", results_text(plan.options))},
      app::box_row("Search box", plan.box, unit),
      app::ranks_row(plan.ranks, verbose),
      {verbose ? app::input_lines(plan.snapshot.files) : ""},
  };
}

/// A table.
app::Row columns_row(const std::vector<ColumnSummary>& columns) {
  std::string text = fmt::format("\n{:<20} {:>12} {:>12} {:>12}\n", "", "min", "mean", "max");
  Json json = Json::array();
  for (const ColumnSummary& column : columns) {
    const Index missing = column.total - column.finite;
    const auto known = [&](double value) {
      return column.finite > 0 ? std::optional(value) : std::nullopt;
    };
    const auto shown = [&](double value) {
      return column.finite > 0 ? fmt::format("{:.6g}", value) : "-";
    };
    text += fmt::format("{:<20} {:>12} {:>12} {:>12}{}\n", column.name, shown(column.min),
                        shown(column.mean), shown(column.max),
                        missing == 0 ? "" : fmt::format("  {} without", missing));
    json.push_back({{"name", column.name},
                    {"min", known(column.min)},
                    {"mean", known(column.mean)},
                    {"max", known(column.max)},
                    {"finite", column.finite},
                    {"total", column.total}});
  }
  return {text, {{"columns", json}}};
}

std::string search_lines(const Plan& plan, const KnnStatistics& search) {
  const auto queries = static_cast<double>(std::max(plan.num_queries, Index{1}));
  std::string text = line("Searched", "{:.1f} leaves and {:.1f} particles per query",
                          static_cast<double>(search.leaves_visited) / queries,
                          static_cast<double>(search.pairs_tested) / queries);
  if (plan.ranks.num_ranks == 1) return text;
  return text + line("Sent", "{} between ranks, {} particles fetched",
                     bytes_text(static_cast<std::size_t>(search.bytes_sent)), search.fetched);
}

Json json_of(const KnnStatistics& search) {
  return {{"num_wrapped", search.num_wrapped},
          {"leaves_visited", search.leaves_visited},
          {"pairs_tested", search.pairs_tested},
          {"fetched", search.fetched},
          {"chunks", search.chunks},
          {"bytes_sent", search.bytes_sent}};
}

}  // namespace

app::Report plan_report(const Plan& plan, bool verbose) {
  return {plan_rows(plan, verbose), app::estimate_rows("particles, search and results", plan),
          plan.output.shown(plan.num_files), plan.warnings};
}

app::Rows result_rows(const Plan& plan, const Result& result, bool verbose) {
  const app::Run run{result.measured, plan.num_queries, plan.ranks.num_ranks == 1, "queries"};
  const KnnStatistics& search = result.search;
  const app::Row per_rank = read_per_rank_row(run, result.queries);
  return {
      columns_row(result.columns),
      per_rank.for_people(),
      {app::wrapped_line(search.num_wrapped, "positions")},
      phases_row(run),
      per_rank.for_machines(),
      peak_memory_row(run),
      {verbose ? search_lines(plan, search) : "", {{"search", json_of(search)}}},
      app::files_row(result.written),
  };
}

}  // namespace zhalo::knn_app
