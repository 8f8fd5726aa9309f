#include "apps/report/report_parts.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>

namespace zhalo::app {

namespace {

std::string spread_text(const Spread& bytes, bool alone) {
  return alone ? bytes_text(bytes.max)
               : fmt::format("{} (mean {})", bytes_text(bytes.max), bytes_text(bytes.mean));
}

}  // namespace

void Lines::line(const std::string& name, const std::string& value) {
  fmt::format_to(std::back_inserter(text_), "{:<12} {}\n", name, value);
}

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string bytes_text(std::size_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string box_text(const Box& box, const std::string& unit) {
  if (box.volume() <= 0) return "not periodic, without edges";
  return fmt::format("{}, {:.10g} x {:.10g} x {:.10g} {}",
                     box.any_periodic() ? "periodic" : "not periodic", box.length[0], box.length[1],
                     box.length[2], unit);
}

void add_rank_layout(Lines& lines, const RankLayout& ranks, bool verbose) {
  lines.line("Runs on", ranks.runs_on);
  if (ranks.num_ranks == 1) return;
  lines.line("Messages", ranks.transport);
  if (!verbose) return;
  for (std::size_t rank = 0; rank < ranks.map.size(); ++rank)
    lines.line(fmt::format("  rank {}", rank), ranks.map[rank]);
}

void add_inputs(Lines& lines, const std::vector<std::string>& files) {
  for (const std::string& file : files) lines.line("File", file);
}

void add_wrapped(Lines& lines, Index num, const std::string& items) {
  if (num == 0) return;
  const std::string noun = num == 1 ? items.substr(0, items.size() - 1) : items;
  lines.line("Wrapped",
             fmt::format("{} {} outside the periodic box, or on its upper edge", num, noun));
}

void add_phases(Lines& lines, const Run& run) {
  lines.plain(fmt::format("\n{:<14} {:>8} {:>13}{}", "Phase", "seconds", run.items + "/s",
                          run.alone ? "" : "  max/mean"));
  const auto add = [&](const std::string& name, double seconds, const std::string& imbalance) {
    const double rate = static_cast<double>(run.num_items) / seconds;
    const std::string rate_text = seconds > 0 ? fmt::format("{:.3g}", rate) : "-";
    lines.plain(fmt::format("{:<14} {:>8.4f} {:>13}{}", name, seconds, rate_text, imbalance));
  };
  for (const PhaseSpread& phase : run.measured.phases) {
    add(phase.name, phase.seconds.max,
        run.alone ? "" : fmt::format(" {:>9.2f}", phase.seconds.imbalance()));
  }
  add("all", run.seconds, "");
}

void add_memory(Lines& lines, const Run& run) {
  lines.line("Peak memory",
             fmt::format("{}{} resident; {} {}", run.alone ? "" : "of the rank with most, ",
                         spread_text(run.measured.peak_resident, run.alone), run.held,
                         spread_text(run.measured.peak_pool, run.alone)));
}

void add_files(Lines& lines, const std::vector<std::string>& files, Index num_files) {
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(most, files.size());
  for (std::size_t i = 0; i < shown; ++i) lines.line("Written", files[i]);
  const Index more = num_files - static_cast<Index>(shown);
  if (more > 0) lines.line("", fmt::format("and {} more file{}", more, more == 1 ? "" : "s"));
}

}  // namespace zhalo::app
