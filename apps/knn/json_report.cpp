#include "apps/knn/json_report.hpp"

#include <cmath>

#include "apps/knn/reductions.hpp"
#include "apps/report/json_parts.hpp"

namespace zhalo::knn_app {
namespace {

using app::Json;
using app::json_of;

Json json_of(const QuerySummary& query) {
  return {{"path", query.path},
          {"is_snapshot", query.is_snapshot},
          {"types", query.types},
          {"count", query.count},
          {"position_bits", query.double_positions ? 64 : 32}};
}

Json json_of(const Options& options) {
  Json reductions = Json::array();
  for (const Quantity quantity : options.reductions) reductions.push_back(traits_of(quantity).word);
  // JSON has no infinity.
  const bool bounded = std::isfinite(options.max_radius);
  return {{"k", options.k},
          {"types", options.types},
          {"reductions", reductions},
          {"lists", options.lists},
          {"kernel", name_of(options.kernel)},
          {"include_self", options.include_self},
          {"max_radius", bounded ? Json(options.max_radius) : Json(nullptr)}};
}

Json json_of(const KnnStatistics& search) {
  return {{"num_wrapped", search.num_wrapped},
          {"leaves_visited", search.leaves_visited},
          {"pairs_tested", search.pairs_tested},
          {"fetched", search.fetched},
          {"chunks", search.chunks},
          {"bytes_sent", search.bytes_sent}};
}

Json json_of(const Result& found, Index num_queries) {
  Json columns = Json::array();
  for (const ColumnSummary& column : found.columns) {
    columns.push_back({{"name", column.name},
                       {"min", column.min},
                       {"mean", column.mean},
                       {"max", column.max},
                       {"finite", column.finite},
                       {"total", column.total}});
  }
  Json result = {{"columns", columns},
                 {"phases", app::json_of_phases(found.measured, num_queries, "queries_per_second")},
                 {"seconds", found.seconds},
                 {"queries_per_rank", {{"min", found.fewest_queries}, {"max", found.max_queries}}}};
  result.update(app::json_of_memory(found.measured));
  result.update(Json{{"search", found.search ? json_of(*found.search) : Json(nullptr)},
                     {"num_files", found.num_files},
                     {"files", found.files}});
  return result;
}

}  // namespace

std::string to_json(const Plan& plan) {
  Json all = {{"zhalo_version", ZHALO_VERSION},
              {"dry_run", !plan.found},
              {"snapshot", json_of(plan.snapshot)},
              {"options", json_of(plan.options)},
              {"num_particles", plan.num_particles},
              {"query", plan.query ? json_of(*plan.query) : Json(nullptr)},
              {"num_queries", plan.num_queries},
              {"periodic", plan.box.any_periodic()}};
  all.update(app::json_of(plan.ranks));
  all.update(Json{{"estimate", app::json_of_estimate(plan.estimate)},
                  {"output", plan.output.shown(plan.num_files)},
                  {"warnings", plan.warnings},
                  {"result", plan.found ? json_of(*plan.found, plan.num_queries) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::knn_app
