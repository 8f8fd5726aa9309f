#include "apps/fof/json_report.hpp"

#include "apps/common/json_parts.hpp"

namespace zhalo::fof_app {
namespace {

using app::Json;
using app::json_of;
using app::json_of_memory;
using app::json_of_phases;

Json json_of(const Linking& linking) {
  Json separation = nullptr;
  if (const auto& d = linking.mean_separation) {
    separation = {{"chosen", d->chosen}, {"how", d->how}, {"from_volume", d->from_volume}, {"from_density", d->from_density}};
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
Json json_of_attach(const Summary& summary) {
  if (summary.attach.types.empty()) return nullptr;
  return {{"types", summary.attach.types},
          {"num_particles", summary.num_attachable},
          {"radius_in_linking_lengths", summary.attach.radius},
          {"radius", summary.attach.radius * summary.linking.length}};
}

Json json_of(const Found& found, Index num_particles) {
  Json largest = Json::array();
  for (const GroupRow& row : found.largest) {
    largest.push_back({{"length", row.length}, {"mass", row.mass}, {"centre", row.centre}, {"velocity", row.velocity}});
  }
  Json result = {{"num_groups", found.num_groups},
                 {"num_particles_in_groups", found.num_members},
                 {"members_by_type", found.members_by_type},
                 {"num_wrapped", found.num_wrapped},
                 {"largest_groups", largest},
                 {"phases", json_of_phases(found.measured, num_particles)},
                 {"seconds", found.seconds},
                 {"particles_per_rank", {{"min", found.fewest_particles}, {"max", found.most_particles}}}};
  result.update(json_of_memory(found.measured));
  result.update(Json{{"exchanged", json_of(found.exchanged)}, {"num_files", found.num_files}, {"files", found.files}});
  return result;
}

Json json_of(const Estimate& estimate) {
  return {{"memory_bytes", estimate.memory},
          {"memory_bytes_per_rank", estimate.memory_per_rank},
          {"catalogue_limit_bytes", estimate.catalogue_limit},
          {"membership_bytes", estimate.membership}};
}

}  // namespace

std::string to_json(const Summary& summary) {
  std::vector<std::string> warnings = summary.warnings;
  if (summary.found) warnings.insert(warnings.end(), summary.found->warnings.begin(), summary.found->warnings.end());
  Json all = {{"zhalo_version", ZHALO_VERSION},
              {"dry_run", !summary.found},
              {"snapshot", json_of(summary.snapshot)},
              {"link_types", summary.link_types},
              {"num_particles", summary.num_particles()},
              {"num_linked", summary.num_linked},
              {"attach", json_of_attach(summary)},
              {"min_size", summary.min_size},
              {"min_counts", summary.attach.only_linked_count ? "linkers" : "all"},
              {"periodic", summary.box.any_periodic()},
              {"linking", json_of(summary.linking)}};
  all.update(app::json_of(summary.places));
  all.update(Json{{"estimate", json_of(summary.estimate)},
                  {"output", summary.output},
                  {"warnings", warnings},
                  {"result", summary.found ? json_of(*summary.found, summary.num_particles()) : Json(nullptr)}});
  return all.text();
}

}  // namespace zhalo::fof_app
