#include "apps/report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace zhalo::app {

using nlohmann::ordered_json;

struct Json::Value {  // NOLINT(bugprone-exception-escape): moving a value only checks it
  ordered_json json;
};

Json::Json(std::nullptr_t) : value_(std::make_unique<Value>()) {}
Json::Json(bool value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(Index value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(std::size_t value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(double value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(const char* value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(const std::string& value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(std::initializer_list<Member> members)
    : value_(std::make_unique<Value>(Value{ordered_json::object()})) {
  for (const Member& member : members) set(member.name, member.value);
}
Json::Json(const Json& other) : value_(std::make_unique<Value>(*other.value_)) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) {
  value_ = std::make_unique<Value>(*other.value_);
  return *this;
}
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  Json all;
  all.value_->json = ordered_json::array();
  return all;
}

void Json::push_back(const Json& value) { value_->json.push_back(value.value_->json); }
void Json::set(const char* name, const Json& value) { value_->json[name] = value.value_->json; }
void Json::update(const Json& other) {
  if (!other.value_->json.is_null()) value_->json.update(other.value_->json);
}

std::string Json::text() const {
  return value_->json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

namespace {

Json json_of(const io::Cosmology& c) {
  return {{"scale_factor", c.scale_factor},
          {"redshift", c.redshift},
          {"hubble", c.hubble},
          {"omega_matter", c.omega_matter},
          {"omega_lambda", c.omega_lambda},
          {"omega_baryon", c.omega_baryon},
          {"omega_cdm", c.omega_cdm},
          {"hubble_ratio", c.hubble_ratio},
          {"critical_density", c.critical_density}};
}

Json json_of(const io::Units& units) {
  return {{"length", units.length_name()},
          {"mass", units.mass_name()},
          {"length_in_cm", units.length_in_cm},
          {"mass_in_g", units.mass_in_g},
          {"velocity_in_cm_per_s", units.velocity_in_cm_per_s},
          {"h_free", units.h_free},
          {"assumed", units.assumed}};
}

Json json_of(const std::vector<io::TypeSummary>& types) {
  Json json = Json::array();
  for (std::size_t type = 0; type < types.size(); ++type) {
    const io::TypeSummary& t = types[type];
    if (t.count == 0) continue;
    json.push_back({{"type", type},
                    {"count", t.count},
                    {"position_bits", t.double_coordinates ? 64 : 32},
                    {"mass_source", t.mass_source},
                    {"uniform_mass", t.uniform_mass}});
  }
  return json;
}

}  // namespace

Row snapshot_row(const io::SnapshotInfo& info) {
  const Json snapshot = {{"path", info.path},
                         {"code", io::name_of(info.code)},
                         {"files", info.files},
                         {"number", info.number},
                         {"types", json_of(info.types)},
                         {"box_length", info.box_length},
                         {"cosmological", info.cosmological},
                         {"time", info.time},
                         {"cosmology", json_of(info.cosmology)},
                         {"units", json_of(info.units)},
                         {"notes", info.notes}};
  return {describe(info) + "\n", {{"snapshot", snapshot}}};
}

std::string input_lines(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += line("File", "{}", file);
  return text;
}

std::string left_out_line(const io::SnapshotInfo& info, const std::vector<int>& used,
                          const char* option, const std::vector<int>& of_option) {
  std::vector<int> others;
  Index num = 0;
  for (std::size_t i = 0; i < info.types.size(); ++i) {
    const io::TypeSummary& summary = info.types[i];
    const int type = static_cast<int>(i);
    if (summary.count == 0 || !summary.has_coordinates ||
        std::find(used.begin(), used.end(), type) != used.end())
      continue;
    others.push_back(type);
    num += summary.count;
  }
  if (num == 0) return "";
  std::set<int> all(of_option.begin(), of_option.end());
  all.insert(others.begin(), others.end());
  return line("Left out", "{} particles of type {} ({} {})", num, fmt::join(others, ", "), option,
              fmt::join(all, ","));
}

Row box_row(const std::string& name, const Box& box, const std::string& unit) {
  if (box.volume() <= 0)
    return {line(name, "not periodic, without edges"),
            {{"periodic", false}, {"box_length", nullptr}}};
  return {line(name, "{}, {:.10g} x {:.10g} x {:.10g} {}",
               box.any_periodic() ? "periodic" : "not periodic", box.length[0], box.length[1],
               box.length[2], unit),
          {{"periodic", box.any_periodic()}, {"box_length", box.length}}};
}

std::string wrapped_line(Index num, const std::string& items) {
  if (num == 0) return "";
  const std::string noun = num == 1 ? items.substr(0, items.size() - 1) : items;
  return line("Wrapped", "{} {} outside the periodic box, or on its upper edge", num, noun);
}

Row files_row(const std::vector<std::string>& files) {
  constexpr std::size_t max_shown = 8;
  const std::size_t shown = std::min(max_shown, files.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += line("Written", "{}", files[i]);
  const std::size_t more = files.size() - shown;
  if (more > 0) text += line("", "and {} more file{}", more, more == 1 ? "" : "s");
  return {text, {{"num_files", files.size()}, {"files", files}}};
}

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
  Json all = {{"command", report.command},
              {"command_line", report.command_line},
              {"report_version", report_version},
              {"zhalo_version", ZHALO_VERSION},
              {"dry_run", !report.result}};
  all.update(json_of(report.plan));
  all.update(Json{{"estimate", json_of(report.estimate)},
                  {"output", report.output},
                  {"warnings", report.warnings},
                  {"result", report.result ? json_of(*report.result) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::app
