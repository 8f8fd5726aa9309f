#include "apps/report/report.hpp"

#include <array>

namespace zhalo::app {

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string bytes_text(std::size_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string text_of(const Rows& rows) {
  std::string text;
  for (const Row& row : rows) text += row.text;
  return text;
}

Json json_of(const Rows& rows) {
  Json json = Json::object();
  for (const Row& row : rows) json.update(row.members);
  return json;
}

std::string plan_text(const Report& report, bool verbose) {
  return text_of(report.plan) + (verbose ? text_of(report.estimate) : "") + "\n";
}

std::string to_json(const Report& report) {
  Json all = {{"zhalo_version", ZHALO_VERSION}, {"dry_run", !report.result}};
  all.update(json_of(report.plan));
  all.update(Json{{"estimate", json_of(report.estimate)},
                  {"output", report.output},
                  {"warnings", report.warnings},
                  {"result", report.result ? json_of(*report.result) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::app
