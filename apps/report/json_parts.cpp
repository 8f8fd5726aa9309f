#include "apps/report/json_parts.hpp"

namespace zhalo::app {

namespace {

Json json_of_cosmology(const io::Cosmology& c) {
  return {{"scale_factor", c.scale_factor},
          {"redshift", c.redshift},
          {"hubble", c.hubble},
          {"omega_matter", c.omega_matter},
          {"omega_lambda", c.omega_lambda},
          {"omega_baryon", c.omega_baryon},
          {"omega_cdm", c.omega_cdm},
          {"critical_density", c.critical_density}};
}

}  // namespace

Json json_of(const io::SnapshotInfo& info) {
  Json types = Json::array();
  for (std::size_t type = 0; type < info.types.size(); ++type) {
    const io::TypeSummary& t = info.types[type];
    if (t.count == 0) continue;
    types.push_back({{"type", type},
                     {"count", t.count},
                     {"position_bits", t.double_coordinates ? 64 : 32},
                     {"mass_source", t.mass_source},
                     {"uniform_mass", t.uniform_mass}});
  }
  const io::Units& units = info.units;
  return {{"path", info.path},
          {"code", io::name_of(info.code)},
          {"files", info.files},
          {"number", info.number},
          {"types", types},
          {"box_length", info.box_length},
          {"cosmology", json_of_cosmology(info.cosmology)},
          {"units",
           {{"length", units.length_name()},
            {"mass", units.mass_name()},
            {"length_in_cm", units.length_in_cm},
            {"mass_in_g", units.mass_in_g},
            {"velocity_in_cm_per_s", units.velocity_in_cm_per_s},
            {"h_free", units.h_free},
            {"assumed", units.assumed}}},
          {"notes", info.notes}};
}

Json json_of(const RankLayout& ranks) {
  return {{"runs_on", ranks.runs_on},
          {"num_ranks", ranks.num_ranks},
          {"num_machines", ranks.num_machines},
          {"transport", ranks.transport},
          {"ranks", ranks.map}};
}

Json json_of(const Spread& spread) {
  return {{"max", spread.max}, {"mean", spread.mean}, {"imbalance", spread.imbalance()}};
}

Json json_of_phases(const Measured& measured, Index num, const char* rate) {
  Json phases = Json::array();
  for (const PhaseSpread& phase : measured.phases) {
    const double seconds = phase.seconds.max;
    const double per_second = seconds > 0 ? static_cast<double>(num) / seconds : 0;
    phases.push_back({{"name", phase.name},
                      {"seconds", seconds},
                      {"mean_seconds", phase.seconds.mean},
                      {"imbalance", phase.seconds.imbalance()},
                      {rate, per_second}});
  }
  return phases;
}

Json json_of_memory(const Measured& measured) {
  const auto bytes = [](double value) { return static_cast<std::size_t>(value); };
  return {{"peak_resident_bytes", bytes(measured.peak_resident.max)},
          {"mean_peak_resident_bytes", bytes(measured.peak_resident.mean)},
          {"peak_pool_bytes", bytes(measured.peak_pool.max)},
          {"mean_peak_pool_bytes", bytes(measured.peak_pool.mean)}};
}

}  // namespace zhalo::app
