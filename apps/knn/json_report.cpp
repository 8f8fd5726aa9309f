#include "apps/knn/json_report.hpp"

#include <cmath>

#include "apps/common/json_parts.hpp"
#include "apps/knn/reductions.hpp"

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

Json json_of(const Found& found, Index num_queries) {
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
                 {"queries_per_rank", {{"min", found.fewest_queries}, {"max", found.most_queries}}}};
  result.update(app::json_of_memory(found.measured));
  result.update(Json{{"search", found.search ? json_of(*found.search) : Json(nullptr)},
                     {"num_files", found.num_files},
                     {"files", found.files}});
  return result;
}

}  // namespace

std::string to_json(const Summary& summary) {
  Json all = {{"zhalo_version", ZHALO_VERSION},         {"dry_run", !summary.found},
              {"snapshot", json_of(summary.snapshot)},  {"options", json_of(summary.options)},
              {"num_particles", summary.num_particles}, {"query", summary.query ? json_of(*summary.query) : Json(nullptr)},
              {"num_queries", summary.num_queries},     {"periodic", summary.box.any_periodic()}};
  all.update(app::json_of(summary.places));
  all.update(Json{{"estimate", app::json_of_estimate(summary.estimate)},
                  {"output", summary.output.shown(summary.num_files)},
                  {"warnings", summary.warnings},
                  {"result", summary.found ? json_of(*summary.found, summary.num_queries) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::knn_app
