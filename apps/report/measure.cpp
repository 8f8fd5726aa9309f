#include "apps/report/measure.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <sstream>

#include "apps/cli/process.hpp"

namespace zhalo::app {
namespace {

/// Rank 0's names of phases, for all ranks to speak of the same ones.
std::vector<std::string> common_names(const Context& context) {
  std::string lines;
  for (const Phase& phase : context.timers->phases()) lines += phase.name + "\n";
  std::istringstream stream(context.comm.broadcast(lines));
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) names.push_back(line);
  return names;
}

std::string spread_text(const Spread& bytes, bool alone) {
  return alone ? bytes_text(bytes.max)
               : fmt::format("{} (mean {})", bytes_text(bytes.max), bytes_text(bytes.mean));
}

std::string phase_line(const std::string& name, double seconds, Index num_items,
                       const std::string& imbalance) {
  const double rate = static_cast<double>(num_items) / seconds;
  const std::string rate_text = seconds > 0 ? fmt::format("{:.3g}", rate) : "-";
  return fmt::format("{:<14} {:>8.4f} {:>13}{}\n", name, seconds, rate_text, imbalance);
}

}  // namespace

Spread spread_of(const Communicator& comm, double value) {
  return {comm.max(value), comm.sum(value) / comm.size()};
}

Measured measure(const Context& context) {
  Measured measured;
  double rest = context.timers->total();
  for (const std::string& name : common_names(context)) {
    const auto& mine = context.timers->phases();
    const auto found = std::find_if(mine.begin(), mine.end(),
                                    [&](const Phase& phase) { return phase.name == name; });
    const double seconds = found == mine.end() ? 0 : found->seconds;
    rest -= seconds;
    measured.phases.push_back({name, spread_of(context.comm, seconds)});
  }
  const Spread other = spread_of(context.comm, rest);
  if (other.max > 1e-6) measured.phases.push_back({"other", other});
  measured.peak_resident = spread_of(context.comm, static_cast<double>(peak_resident_bytes()));
  measured.peak_pool =
      spread_of(context.comm, static_cast<double>(memory(context.exec)->peak_bytes()));
  return measured;
}

Json json_of(const Spread& spread) {
  return {{"max", spread.max}, {"mean", spread.mean}, {"imbalance", spread.imbalance()}};
}

Row phases_row(const Run& run) {
  std::string text = fmt::format("\n{:<14} {:>8} {:>13}{}\n", "Phase", "seconds", run.items + "/s",
                                 run.alone ? "" : "  max/mean");
  const std::string rate = run.items + "_per_second";
  Json phases = Json::array();
  for (const PhaseSpread& phase : run.measured.phases) {
    const double seconds = phase.seconds.max;
    const double imbalance = phase.seconds.imbalance();
    text += phase_line(phase.name, seconds, run.num_items,
                       run.alone ? "" : fmt::format(" {:>9.2f}", imbalance));
    phases.push_back(
        {{"name", phase.name},
         {"seconds", seconds},
         {"mean_seconds", phase.seconds.mean},
         {"imbalance", imbalance},
         {rate.c_str(), seconds > 0 ? static_cast<double>(run.num_items) / seconds : 0}});
  }
  text += phase_line("all", run.seconds, run.num_items, "");
  return {text, {{"phases", phases}, {"seconds", run.seconds}}};
}

Row peak_memory_row(const Run& run) {
  const Spread& resident = run.measured.peak_resident;
  const Spread& pool = run.measured.peak_pool;
  const auto bytes = [](double value) { return static_cast<std::size_t>(value); };
  return {
      "\n" + line("Peak memory", "{}{} resident; {} {}", run.alone ? "" : "of the rank with most, ",
                  spread_text(resident, run.alone), run.held, spread_text(pool, run.alone)),
      {{"peak_resident_bytes", bytes(resident.max)},
       {"mean_peak_resident_bytes", bytes(resident.mean)},
       {"peak_pool_bytes", bytes(pool.max)},
       {"mean_peak_pool_bytes", bytes(pool.mean)}}};
}

}  // namespace zhalo::app
