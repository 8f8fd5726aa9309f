#include "apps/fof/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <set>

#include "apps/report/report_parts.hpp"

namespace zhalo::fof_app {
namespace {

using app::bytes_text;
using app::Lines;

std::string candidate(const std::optional<double>& value, const std::string& unit,
                      const std::string& note) {
  return value ? fmt::format("{:.10g} {} from {}", *value, unit, note)
               : fmt::format("unknown: {}", note);
}

void add_separation(Lines& lines, const Linking& linking, const std::string& unit) {
  if (!linking.mean_separation)
    return lines.line("Separation", "unknown: " + linking.mean_separation_missing);
  const io::MeanSeparation& d = *linking.mean_separation;
  lines.line("Separation", fmt::format("{:.10g} {} ({})", d.chosen, unit, d.how));
  lines.line("  by volume", candidate(d.from_volume, unit, d.volume_note));
  lines.line("  by density", candidate(d.from_density, unit, d.density_note));
}

/// What the catalogue will lack.
void add_missing_velocities(Lines& lines, const Plan& plan) {
  std::set<int> without;
  for (const int type : all_types(plan.link_types, plan.attach)) {
    if (!plan.snapshot.types[static_cast<std::size_t>(type)].has_velocities) without.insert(type);
  }
  if (without.empty()) return;
  lines.line("Velocities",
             fmt::format("the snapshot has none of type {}, the catalogue none of groups",
                         fmt::join(without, ", ")));
}

/// Gas, stars and black holes are easily forgotten.
void add_left_out(Lines& lines, const Plan& plan) {
  const std::vector<int> used = all_types(plan.link_types, plan.attach);
  std::vector<int> others;
  Index num = 0;
  for (std::size_t type = 0; type < plan.snapshot.types.size(); ++type) {
    const Index count = plan.snapshot.types[type].count;
    if (count == 0 || !plan.snapshot.types[type].has_coordinates ||
        std::count(used.begin(), used.end(), static_cast<int>(type)) > 0)
      continue;
    others.push_back(static_cast<int>(type));
    num += count;
  }
  if (num == 0) return;
  std::set<int> attached(plan.attach.types.begin(), plan.attach.types.end());
  attached.insert(others.begin(), others.end());
  lines.line("Left out", fmt::format("{} particles of type {} (--attach-types {})", num,
                                     fmt::join(others, ", "), fmt::join(attached, ",")));
}

void add_attach(Lines& lines, const Plan& plan, const std::string& unit) {
  const Attach& attach = plan.attach;
  if (attach.types.empty()) return;
  const double radius = attach.radius * plan.linking.length;
  lines.line("Attaches", fmt::format("{} particles of type {} to the nearest linked one{}",
                                     plan.num_attachable, fmt::join(attach.types, ", "),
                                     std::isfinite(radius)
                                         ? fmt::format(" within {:.10g} {}, {:.6g} linking lengths",
                                                       radius, unit, attach.radius)
                                         : " at any distance"));
}

/// Members of all groups; where types are attached, also by type.
void add_members(Lines& lines, const Plan& plan) {
  const auto line = [&](const std::string& name, Index members, Index particles) {
    const double part =
        particles > 0 ? 100.0 * static_cast<double>(members) / static_cast<double>(particles) : 0;
    lines.line(name, fmt::format("{} of {} particles ({:.2f}%)", members, particles, part));
  };
  line("In groups", plan.found->num_members, plan.num_particles());
  if (plan.attach.types.empty()) return;
  std::vector<int> types = all_types(plan.link_types, plan.attach);
  std::sort(types.begin(), types.end());
  for (const int type : types) {
    const auto at = static_cast<std::size_t>(type);
    line(fmt::format("  type {}", type), plan.found->members_by_type[at],
         plan.snapshot.types[at].count);
  }
}

void add_largest(Lines& lines, const Plan& plan, bool verbose) {
  const io::Units& units = plan.snapshot.units;
  lines.plain(fmt::format(
      "\n{:>4} {:>11} {:>13}  {}", "", "particles", fmt::format("{}", units.mass_name()),
      fmt::format("centre [{}]{}", units.length_name(), verbose ? "; peculiar velocity" : "")));
  Index row = 0;
  for (const GroupRow& group : plan.found->largest) {
    const Vec3d& c = group.centre;
    const auto& v = group.velocity;
    const std::string velocity =
        verbose && v ? fmt::format("   {:9.4g} {:9.4g} {:9.4g}", (*v)[0], (*v)[1], (*v)[2]) : "";
    lines.plain(fmt::format("{:>4} {:>11} {:>13.6g}  {:12.6g} {:12.6g} {:12.6g}{}", row++,
                            group.length, group.mass, c[0], c[1], c[2], velocity));
  }
}

void add_exchanged(Lines& lines, const Plan& plan) {
  const Exchanged& exchanged = plan.found->exchanged;
  lines.line("Searched", fmt::format("{:.0f} particles on the rank with most, max/mean {:.4f}",
                                     exchanged.searched.max, exchanged.searched.imbalance()));
  lines.line("Ghosts", fmt::format("{:.0f} particles sent by the rank with most (mean {:.1f})",
                                   exchanged.ghosts.max, exchanged.ghosts.mean));
  lines.line("Merged", fmt::format("{} links between ranks, in {} rounds", exchanged.edges,
                                   exchanged.rounds));
  lines.line("Sent",
             fmt::format("{} by the rank with most (mean {})", bytes_text(exchanged.bytes.max),
                         bytes_text(exchanged.bytes.mean)));
}

}  // namespace

std::string plan_text(const Plan& plan, bool verbose) {
  Lines lines;
  const std::string unit = plan.snapshot.units.length_name();
  lines.plain("");
  lines.line("Links", fmt::format("{} particles of type {}", plan.num_linked,
                                  fmt::join(plan.link_types, ", ")));
  add_separation(lines, plan.linking, unit);
  const auto& ratio = plan.linking.ratio;
  lines.line("Link length",
             fmt::format("{:.10g} {}{}", plan.linking.length, unit,
                         ratio ? fmt::format(", b = {:.6g} mean separations", *ratio) : ""));
  add_attach(lines, plan, unit);
  add_left_out(lines, plan);
  add_missing_velocities(lines, plan);
  lines.line("Groups of", fmt::format("{} {}particles or more", plan.min_size,
                                      plan.attach.only_linked_count ? "linked " : ""));
  lines.line("Search box", app::box_text(plan.box, unit));
  add_rank_layout(lines, plan.ranks, verbose);
  if (verbose) app::add_inputs(lines, plan.snapshot.files);
  return describe(plan.snapshot) + std::move(lines).text() + (verbose ? estimate_text(plan) : "") +
         "\n";
}

std::string estimate_text(const Plan& plan) {
  Lines lines;
  const Estimate& estimate = plan.estimate;
  app::add_memory_estimate(lines, "the particles and the search", estimate, plan.ranks.num_ranks);
  lines.line("Catalogue",
             fmt::format("at most {} in {}", bytes_text(estimate.catalogue_limit), plan.output));
  if (estimate.membership > 0)
    lines.line("Membership", fmt::format("{} in {}", bytes_text(estimate.membership), plan.output));
  return std::move(lines).text();
}

std::string result_text(const Plan& plan, bool verbose) {
  const Result& found = *plan.found;
  Lines lines;
  lines.plain("");
  lines.line("Groups", fmt::format("{}", found.num_groups));
  add_members(lines, plan);
  if (plan.ranks.num_ranks > 1)
    lines.line("Per rank",
               fmt::format("{} to {} particles read", found.fewest_particles, found.max_particles));
  app::add_wrapped(lines, found.num_wrapped, "particles");
  if (!found.largest.empty()) add_largest(lines, plan, verbose);
  const app::Run run{found.measured, found.seconds, plan.num_particles(),
                     plan.ranks.num_ranks == 1};
  add_phases(lines, run);
  lines.plain("");
  add_memory(lines, run);
  if (verbose && plan.ranks.num_ranks > 1) add_exchanged(lines, plan);
  app::add_files(lines, found.files, found.num_files);
  return std::move(lines).text();
}

}  // namespace zhalo::fof_app
