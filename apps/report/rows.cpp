#include "apps/report/rows.hpp"

#include <algorithm>

namespace zhalo::app {
namespace {

Json json_of(const io::Cosmology& c) {
  return {{"scale_factor", c.scale_factor},
          {"redshift", c.redshift},
          {"hubble", c.hubble},
          {"omega_matter", c.omega_matter},
          {"omega_lambda", c.omega_lambda},
          {"omega_baryon", c.omega_baryon},
          {"omega_cdm", c.omega_cdm},
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

std::string box_text(const Box& box, const std::string& unit) {
  if (box.volume() <= 0) return "not periodic, without edges";
  return fmt::format("{}, {:.10g} x {:.10g} x {:.10g} {}",
                     box.any_periodic() ? "periodic" : "not periodic", box.length[0], box.length[1],
                     box.length[2], unit);
}

std::string wrapped_line(Index num, const std::string& items) {
  if (num == 0) return "";
  const std::string noun = num == 1 ? items.substr(0, items.size() - 1) : items;
  return line("Wrapped", "{} {} outside the periodic box, or on its upper edge", num, noun);
}

Row files_row(const std::vector<std::string>& files, Index num_files) {
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(most, files.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += line("Written", "{}", files[i]);
  const Index more = num_files - static_cast<Index>(shown);
  if (more > 0) text += line("", "and {} more file{}", more, more == 1 ? "" : "s");
  return {text, {{"num_files", num_files}, {"files", files}}};
}

}  // namespace zhalo::app
