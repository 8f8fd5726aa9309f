#include "apps/fof/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <iterator>

namespace zhalo::fof_app {
namespace {

/// Lines in the style of io::describe.
class Lines {
 public:
  void line(const std::string& name, const std::string& value) {
    fmt::format_to(std::back_inserter(text_), "{:<12} {}\n", name, value);
  }
  void plain(const std::string& text) { text_ += text + "\n"; }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string bytes_text(std::size_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

std::string candidate(const std::optional<double>& value, const std::string& unit, const std::string& note) {
  return value ? fmt::format("{:.10g} {} from {}", *value, unit, note) : fmt::format("unknown: {}", note);
}

void add_separation(Lines& lines, const Linking& linking, const std::string& unit) {
  if (!linking.mean_separation) return lines.line("Separation", "unknown: " + linking.mean_separation_missing);
  const io::MeanSeparation& d = *linking.mean_separation;
  lines.line("Separation", fmt::format("{:.10g} {} ({})", d.chosen, unit, d.how));
  lines.line("  by volume", candidate(d.from_volume, unit, d.volume_note));
  lines.line("  by density", candidate(d.from_density, unit, d.density_note));
}

std::string box_text(const Box& box, const std::string& unit) {
  if (box.volume() <= 0) return "not periodic, without edges";
  return fmt::format("{}, {:.10g} x {:.10g} x {:.10g} {}", box.any_periodic() ? "periodic" : "not periodic", box.length[0],
                     box.length[1], box.length[2], unit);
}

void add_largest(Lines& lines, const Summary& summary, bool verbose) {
  const io::Units& units = summary.snapshot.units;
  lines.plain(fmt::format("\n{:>4} {:>11} {:>13}  {}", "", "particles", fmt::format("{}", units.mass_name()),
                          fmt::format("centre [{}]{}", units.length_name(), verbose ? "; peculiar velocity" : "")));
  Index row = 0;
  for (const GroupRow& group : summary.found->largest) {
    const Vec3d& c = group.centre;
    const Vec3d& v = group.velocity;
    lines.plain(fmt::format("{:>4} {:>11} {:>13.6g}  {:12.6g} {:12.6g} {:12.6g}{}", row++, group.length, group.mass, c[0], c[1],
                            c[2], verbose ? fmt::format("   {:9.4g} {:9.4g} {:9.4g}", v[0], v[1], v[2]) : ""));
  }
}

/// Seconds are those of the slowest rank; max/mean is how much longer it took than the mean of all.
void add_phases(Lines& lines, const Summary& summary) {
  const bool alone = summary.places.num_ranks == 1;
  lines.plain(fmt::format("\n{:<12} {:>10} {:>13}{}", "Phase", "seconds", "particles/s", alone ? "" : "  max/mean"));
  const auto add = [&](const std::string& name, double seconds, const std::string& imbalance) {
    const double rate = static_cast<double>(summary.num_particles) / seconds;
    const std::string rate_text = seconds > 0 ? fmt::format("{:.3g}", rate) : "-";
    lines.plain(fmt::format("{:<12} {:>10.4f} {:>13}{}", name, seconds, rate_text, imbalance));
  };
  for (const PhaseSpread& phase : summary.found->measured.phases) {
    add(phase.name, phase.seconds.max, alone ? "" : fmt::format(" {:>9.2f}", phase.seconds.imbalance()));
  }
  add("all", summary.found->seconds, "");
}

std::string spread_text(const Spread& bytes, bool alone) {
  const auto text = [](double value) { return bytes_text(static_cast<std::size_t>(value)); };
  return alone ? text(bytes.max) : fmt::format("{} (mean {})", text(bytes.max), text(bytes.mean));
}

void add_memory(Lines& lines, const Summary& summary) {
  const Measured& measured = summary.found->measured;
  const bool alone = summary.places.num_ranks == 1;
  lines.line("Peak memory", fmt::format("{}{} resident; particles and search {}", alone ? "" : "of the rank with most, ",
                                        spread_text(measured.peak_resident, alone), spread_text(measured.peak_pool, alone)));
}

void add_exchanged(Lines& lines, const Summary& summary) {
  const Exchanged& exchanged = summary.found->exchanged;
  lines.line("Searched", fmt::format("{:.0f} particles on the rank with most, max/mean {:.4f}", exchanged.searched.max,
                                     exchanged.searched.imbalance()));
  lines.line("Ghosts", fmt::format("{:.0f} particles sent by the rank with most (mean {:.1f})", exchanged.ghosts.max,
                                   exchanged.ghosts.mean));
  lines.line("Merged", fmt::format("{} links between ranks, in {} rounds", exchanged.edges, exchanged.rounds));
  lines.line("Sent",
             fmt::format("{} by the rank with most (mean {})", bytes_text(static_cast<std::size_t>(exchanged.bytes.max)),
                         bytes_text(static_cast<std::size_t>(exchanged.bytes.mean))));
}

void add_files(Lines& lines, const Found& found) {
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(most, found.files.size());
  for (std::size_t i = 0; i < shown; ++i) lines.line("Written", found.files[i]);
  const Index more = found.num_files - static_cast<Index>(shown);
  if (more > 0) lines.line("", fmt::format("and {} more file{}", more, more == 1 ? "" : "s"));
}

void add_places(Lines& lines, const Summary& summary, bool verbose) {
  const Places& places = summary.places;
  lines.line("Runs on", places.runs_on);
  if (places.num_ranks == 1) return;
  lines.line("Messages", places.transport);
  if (!verbose) return;
  for (std::size_t rank = 0; rank < places.map.size(); ++rank) lines.line(fmt::format("  rank {}", rank), places.map[rank]);
}

}  // namespace

std::string plan_text(const Summary& summary, bool verbose) {
  Lines lines;
  const std::string unit = summary.snapshot.units.length_name();
  lines.plain("");
  lines.line("Links", fmt::format("{} particles of type {}", summary.num_particles, fmt::join(summary.link_types, ", ")));
  add_separation(lines, summary.linking, unit);
  const auto& ratio = summary.linking.ratio;
  lines.line("Link length", fmt::format("{:.10g} {}{}", summary.linking.length, unit,
                                        ratio ? fmt::format(", b = {:.6g} mean separations", *ratio) : ""));
  lines.line("Groups of", fmt::format("{} particles or more", summary.min_size));
  lines.line("Search box", box_text(summary.box, unit));
  add_places(lines, summary, verbose);
  if (verbose) {
    for (const std::string& file : summary.snapshot.files) lines.line("File", file);
  }
  return describe(summary.snapshot) + std::move(lines).text() + (verbose ? estimate_text(summary) : "") + "\n";
}

std::string estimate_text(const Summary& summary) {
  Lines lines;
  const Estimate& estimate = summary.estimate;
  const int ranks = summary.places.num_ranks;
  lines.line(
      "Memory",
      fmt::format("at most {} for the particles and the search{}", bytes_text(estimate.memory),
                  ranks == 1 ? "" : fmt::format(", {} on each of {} ranks", bytes_text(estimate.memory_per_rank), ranks)));
  lines.line("Catalogue", fmt::format("at most {} in {}", bytes_text(estimate.catalogue_limit), summary.output));
  if (estimate.membership > 0)
    lines.line("Membership", fmt::format("{} in {}", bytes_text(estimate.membership), summary.output));
  return std::move(lines).text();
}

std::string result_text(const Summary& summary, bool verbose) {
  const Found& found = *summary.found;
  Lines lines;
  const double part = summary.num_particles > 0
                          ? 100.0 * static_cast<double>(found.num_members) / static_cast<double>(summary.num_particles)
                          : 0;
  lines.plain("");
  lines.line("Groups", fmt::format("{}", found.num_groups));
  lines.line("In groups", fmt::format("{} of {} particles ({:.2f}%)", found.num_members, summary.num_particles, part));
  if (summary.places.num_ranks > 1)
    lines.line("Per rank", fmt::format("{} to {} particles read", found.fewest_particles, found.most_particles));
  if (found.num_wrapped > 0) {
    const char* noun = found.num_wrapped == 1 ? "particle" : "particles";
    lines.line("Wrapped", fmt::format("{} {} outside the periodic box, or on its upper edge", found.num_wrapped, noun));
  }
  if (!found.largest.empty()) add_largest(lines, summary, verbose);
  add_phases(lines, summary);
  lines.plain("");
  add_memory(lines, summary);
  if (verbose && summary.places.num_ranks > 1) add_exchanged(lines, summary);
  add_files(lines, found);
  return std::move(lines).text();
}

}  // namespace zhalo::fof_app
