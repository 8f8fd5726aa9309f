#include "apps/fof/json_report.hpp"

#include "apps/report/json_parts.hpp"

namespace zhalo::fof_app {
namespace {

using app::Json;
using app::json_of;
using app::json_of_memory;
using app::json_of_phases;

Json json_of(const Linking& linking) {
  Json separation = nullptr;
  if (const auto& d = linking.mean_separation) {
    separation = {{"chosen", d->chosen},
                  {"how", d->how},
                  {"from_volume", d->from_volume},
                  {"from_density", d->from_density}};
  }
  return {{"length", linking.length}, {"ratio", linking.ratio}, {"mean_separation", separation}};
}

Json json_of(const Exchanged& exchanged) {
  return {{"searched", json_of(exchanged.searched)},
          {"ghosts_sent", json_of(exchanged.ghosts)},
          {"edges", exchanged.edges},
          {"rounds", exchanged.rounds},
          {"bytes_sent", json_of(exchanged.bytes)}};
}

/// Of the run's parameters; null if nothing is attached. A radius without bound is null.
Json json_of_attach(const Plan& plan) {
  if (plan.attach.types.empty()) return nullptr;
  return {{"types", plan.attach.types},
          {"num_particles", plan.num_attachable},
          {"radius_in_linking_lengths", plan.attach.radius},
          {"radius", plan.attach.radius * plan.linking.length}};
}

Json json_of(const Result& found, Index num_particles) {
  Json largest = Json::array();
  for (const GroupRow& row : found.largest) {
    largest.push_back({{"length", row.length},
                       {"mass", row.mass},
                       {"centre", row.centre},
                       {"velocity", row.velocity}});
  }
  Json result = {
      {"num_groups", found.num_groups},
      {"num_particles_in_groups", found.num_members},
      {"members_by_type", found.members_by_type},
      {"num_wrapped", found.num_wrapped},
      {"largest_groups", largest},
      {"phases", json_of_phases(found.measured, num_particles)},
      {"seconds", found.seconds},
      {"particles_per_rank", {{"min", found.fewest_particles}, {"max", found.max_particles}}}};
  result.update(json_of_memory(found.measured));
  result.update(Json{{"exchanged", json_of(found.exchanged)},
                     {"num_files", found.num_files},
                     {"files", found.files}});
  return result;
}

Json json_of(const Estimate& estimate) {
  return {{"memory_bytes", estimate.memory},
          {"memory_bytes_per_rank", estimate.memory_per_rank},
          {"catalogue_limit_bytes", estimate.catalogue_limit},
          {"membership_bytes", estimate.membership}};
}

}  // namespace

std::string to_json(const Plan& plan) {
  std::vector<std::string> warnings = plan.warnings;
  if (plan.found)
    warnings.insert(warnings.end(), plan.found->warnings.begin(), plan.found->warnings.end());
  Json all = {{"zhalo_version", ZHALO_VERSION},
              {"dry_run", !plan.found},
              {"snapshot", json_of(plan.snapshot)},
              {"link_types", plan.link_types},
              {"num_particles", plan.num_particles()},
              {"num_linked", plan.num_linked},
              {"attach", json_of_attach(plan)},
              {"min_size", plan.min_size},
              {"min_counts", plan.attach.only_linked_count ? "linkers" : "all"},
              {"periodic", plan.box.any_periodic()},
              {"linking", json_of(plan.linking)}};
  all.update(app::json_of(plan.ranks));
  all.update(
      Json{{"estimate", json_of(plan.estimate)},
           {"output", plan.output},
           {"warnings", warnings},
           {"result", plan.found ? json_of(*plan.found, plan.num_particles()) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::fof_app
