#include "apps/fof/fof.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <set>

#include "apps/report/report.hpp"

namespace zhalo::fof_app {
namespace {

using app::bytes_text;
using app::Json;
using app::line;

std::string candidate(const std::optional<double>& value, const std::string& unit,
                      const std::string& note) {
  return value ? fmt::format("{:.10g} {} from {}", *value, unit, note)
               : fmt::format("unknown: {}", note);
}

std::string separation_lines(const Linking& linking, const std::string& unit) {
  if (!linking.mean_separation)
    return line("Separation", "unknown: {}", linking.mean_separation_missing);
  const MeanSeparation& d = *linking.mean_separation;
  return line("Separation", "{:.10g} {} ({})", d.chosen, unit, d.how) +
         line("  by volume", "{}", candidate(d.from_volume, unit, d.volume_note)) +
         line("  by density", "{}", candidate(d.from_density, unit, d.density_note));
}

std::string length_line(const Linking& linking, const std::string& unit) {
  const std::string in_separations =
      linking.ratio ? fmt::format(", b = {:.6g} mean separations", *linking.ratio) : "";
  return line("Link length", "{:.10g} {}{}", linking.length, unit, in_separations);
}

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

app::Row linking_row(const Linking& linking, const std::string& unit) {
  return {separation_lines(linking, unit) + length_line(linking, unit),
          {{"linking", json_of(linking)}}};
}

/// Nothing, and null, if nothing is attached. A radius without bound is null.
app::Row attach_row(const Plan& plan, const std::string& unit) {
  const Attach& attach = plan.attach;
  if (attach.types.empty()) return {"", {{"attach", nullptr}}};
  const double radius = attach.radius * plan.linking.length;
  const std::string how_far = std::isfinite(radius)
                                  ? fmt::format(" within {:.10g} {}, {:.6g} x the linking length",
                                                radius, unit, attach.radius)
                                  : " at any distance";
  const Json json = {{"num_particles", plan.num_attachable},
                     {"radius_in_linking_lengths", attach.radius},
                     {"radius", radius}};
  return {line("Attaches", "{} particles of type {} to the nearest linked one{}",
               plan.num_attachable, fmt::join(attach.types, ", "), how_far),
          {{"attach", json}}};
}

Json options_json(const Plan& plan) {
  return {{"link_types", plan.link_types},
          {"attach_types", plan.attach.types},
          {"min_size", plan.min_size},
          {"min_counts", plan.attach.only_linked_count ? "linked" : "all"},
          {"membership", plan.membership}};
}

/// What the catalogue will lack.
std::string missing_velocities_line(const Plan& plan) {
  std::set<int> without;
  for (const int type : all_types(plan.link_types, plan.attach)) {
    if (!plan.snapshot.types[static_cast<std::size_t>(type)].has_velocities) without.insert(type);
  }
  if (without.empty()) return "";
  return line("Velocities", "the snapshot has none of type {}, so the catalogue has none",
              fmt::join(without, ", "));
}

app::Rows plan_rows(const Plan& plan, bool verbose) {
  const std::string unit = plan.snapshot.units.length_name();
  const app::Row linking = linking_row(plan.linking, unit);
  return {
      app::snapshot_row(plan.snapshot),
      {"", {{"options", options_json(plan)}}},
      {line("Links", "{} particles of type {}", plan.num_linked, fmt::join(plan.link_types, ", ")),
       {{"num_particles", plan.num_particles()}, {"num_linked", plan.num_linked}}},
      linking.for_people(),
      attach_row(plan, unit),
      {app::left_out_line(plan.snapshot, all_types(plan.link_types, plan.attach), "--attach-types",
                          plan.attach.types)},
      {missing_velocities_line(plan)},
      {line("Groups of", "{} {}particles or more", plan.min_size,
            plan.attach.only_linked_count ? "linked " : "")},
      app::box_row("Search box", plan.box, unit),
      linking.for_machines(),
      app::ranks_row(plan.ranks, verbose),
      {verbose ? app::input_lines(plan.snapshot.files) : ""},
  };
}

app::Rows estimate_rows(const Plan& plan) {
  const Estimate& estimate = plan.estimate;
  const std::string membership =
      estimate.membership > 0
          ? line("Membership", "{} in {}", bytes_text(estimate.membership), plan.output)
          : "";
  return {
      app::memory_need_row("the particles and the search", estimate, plan.ranks.num_ranks),
      app::device_need_row(device_need(plan), plan.ranks),
      {line("Catalogue", "at most {} in {}", bytes_text(estimate.catalogue_limit), plan.output),
       {{"catalogue_limit_bytes", estimate.catalogue_limit}}},
      {membership, {{"membership_bytes", estimate.membership}}},
  };
}

/// Members of all groups; where types are attached, also by type.
std::string member_lines(const Plan& plan, const Result& result) {
  const auto members_line = [](const std::string& name, Index members, Index particles) {
    const double part =
        particles > 0 ? 100.0 * static_cast<double>(members) / static_cast<double>(particles) : 0;
    return line(name, "{} of {} particles ({:.2f}%)", members, particles, part);
  };
  std::string text = members_line("In groups", result.num_members, plan.num_particles());
  if (plan.attach.types.empty()) return text;
  std::vector<int> types = all_types(plan.link_types, plan.attach);
  std::sort(types.begin(), types.end());
  for (const int type : types) {
    const auto at = static_cast<std::size_t>(type);
    text += members_line(fmt::format("  type {}", type), result.members_by_type[at],
                         plan.snapshot.types[at].count);
  }
  return text;
}

/// A table; no text if there are no groups.
app::Row largest_row(const std::vector<GroupRow>& largest, const io::Units& units, bool verbose) {
  std::string text =
      fmt::format("\n{:>4} {:>11} {:>13}  centre [{}]{}\n", "", "particles", units.mass_name(),
                  units.length_name(), verbose ? "; peculiar velocity" : "");
  Json json = Json::array();
  Index number = 0;
  for (const GroupRow& group : largest) {
    const Vec3d& c = group.centre;
    const auto& v = group.velocity;
    const std::string velocity =
        verbose && v ? fmt::format("   {:9.4g} {:9.4g} {:9.4g}", (*v)[0], (*v)[1], (*v)[2]) : "";
    text += fmt::format("{:>4} {:>11} {:>13.6g}  {:12.6g} {:12.6g} {:12.6g}{}\n", number++,
                        group.length, group.mass, c[0], c[1], c[2], velocity);
    json.push_back({{"length", group.length},
                    {"mass", group.mass},
                    {"centre", group.centre},
                    {"velocity", group.velocity}});
  }
  return {largest.empty() ? "" : text, {{"largest_groups", json}}};
}

app::Rows exchanged_rows(const Exchanged& exchanged) {
  return {
      {line("Searched", "{:.0f} particles on the rank with most, max/mean {:.4f}",
            exchanged.searched.max, exchanged.searched.imbalance()),
       {{"searched", json_of(exchanged.searched)}}},
      {line("Ghosts", "{:.0f} particles sent by the rank with most (mean {:.1f})",
            exchanged.ghosts.max, exchanged.ghosts.mean),
       {{"ghosts_sent", json_of(exchanged.ghosts)}}},
      {line("Merged", "{} links between ranks, in {} rounds", exchanged.edges, exchanged.rounds),
       {{"edges", exchanged.edges}, {"rounds", exchanged.rounds}}},
      {line("Sent", "{} by the rank with most (mean {})", bytes_text(exchanged.bytes.max),
            bytes_text(exchanged.bytes.mean)),
       {{"bytes_sent", json_of(exchanged.bytes)}}},
  };
}

}  // namespace

app::Report plan_report(const Plan& plan, bool verbose) {
  return {plan_rows(plan, verbose), estimate_rows(plan), plan.output, plan.warnings};
}

app::Rows result_rows(const Plan& plan, const Result& result, bool verbose) {
  const bool alone = plan.ranks.num_ranks == 1;
  const app::Run run{result.measured, plan.num_particles(), alone};
  const app::Rows exchanged = exchanged_rows(result.exchanged);
  const app::Row per_rank = read_per_rank_row(run, result.particles);
  return {
      {"\n" + line("Groups", "{}", result.num_groups), {{"num_groups", result.num_groups}}},
      {member_lines(plan, result),
       {{"num_particles_in_groups", result.num_members},
        {"members_by_type", result.members_by_type}}},
      {line("Checksum", "{}", result.checksum), {{"checksum", result.checksum}}},
      per_rank.for_people(),
      {app::wrapped_line(result.num_wrapped, "particles"), {{"num_wrapped", result.num_wrapped}}},
      largest_row(result.largest, plan.snapshot.units, verbose),
      phases_row(run),
      per_rank.for_machines(),
      peak_memory_row(run),
      {verbose && !alone ? text_of(exchanged) : "", {{"exchanged", json_of(exchanged)}}},
      app::files_row(result.written),
  };
}

}  // namespace zhalo::fof_app
