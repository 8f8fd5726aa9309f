#include "apps/report/measure.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "apps/cli/process.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::app {
namespace {

/// A text of bounded length, to be sent.
using Text = std::array<char, 200>;

Text text_of(const std::string& line) {
  Text text{};
  std::copy_n(line.begin(), std::min(line.size(), text.size() - 1), text.begin());
  return text;
}

struct RankInfo {
  Text machine;
  Text processor;
  bool first_of_machine = false;
  bool on_device = false;
};

std::string describe_processor(const Exec& exec, bool wants_device) {
  const DeviceReport report = query_devices();
  const bool fell_back = wants_device && report.built_with_cuda && report.num_devices == 0;
  return describe(exec) + (fell_back ? fmt::format(" (no CUDA device: {})", report.reason) : "");
}

std::string count(Index number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string runs_on(const std::vector<RankInfo>& all, int num_machines, bool of_threads) {
  if (all.size() == 1) return all.front().processor.data();
  std::vector<std::pair<std::string, Index>> kinds;
  for (const RankInfo& info : all) {
    const std::string name = info.processor.data();
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == name; });
    if (known == kinds.end()) {
      kinds.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  std::string list;
  for (const auto& [name, number] : kinds)
    list += fmt::format("{}{} x ({})", list.empty() ? ": " : ", ", number, name);
  const std::string ranks = count(static_cast<Index>(all.size()), "rank");
  return of_threads ? fmt::format("{} in one process{}", ranks, list)
                    : fmt::format("{} on {}{}", ranks, count(num_machines, "machine"), list);
}

}  // namespace

RankLayout survey_ranks(const Context& context, bool wants_device) {
  const Communicator& comm = context.comm;
  const std::vector<RankInfo> all = comm.all_gather(
      RankInfo{text_of(machine_name()), text_of(describe_processor(context.exec, wants_device)),
               comm.node_rank() == 0, std::holds_alternative<Cuda>(context.exec)});
  RankLayout ranks;
  ranks.num_ranks = comm.size();
  const auto machines =
      std::count_if(all.begin(), all.end(), [](const RankInfo& p) { return p.first_of_machine; });
  ranks.num_machines = static_cast<int>(machines);
  ranks.runs_on = runs_on(all, ranks.num_machines, comm.is_of_threads());
  const bool devices =
      std::any_of(all.begin(), all.end(), [](const RankInfo& p) { return p.on_device; });
  ranks.on_device = devices;
  ranks.transport = devices ? comm.describe_transport(context.exec) : "host memory";
  if (comm.rank() != 0) return ranks;
  for (const RankInfo& info : all)
    ranks.map.push_back(fmt::format("{}, {}", info.machine.data(), info.processor.data()));
  return ranks;
}

Row ranks_row(const RankLayout& ranks, bool verbose) {
  std::string text = line("Runs on", "{}", ranks.runs_on);
  if (ranks.num_ranks > 1) text += line("Messages", "{}", ranks.transport);
  for (std::size_t rank = 0; verbose && ranks.num_ranks > 1 && rank < ranks.map.size(); ++rank)
    text += line(fmt::format("  rank {}", rank), "{}", ranks.map[rank]);
  return {text,
          {{"runs_on", ranks.runs_on},
           {"num_ranks", ranks.num_ranks},
           {"num_machines", ranks.num_machines},
           {"transport", ranks.transport},
           {"ranks", ranks.map}}};
}

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

Measured measure(const Context& context, double seconds) {
  Measured measured;
  measured.seconds = seconds;
  double rest = seconds;
  for (const std::string& name : common_names(context)) {
    const auto& mine = context.timers->phases();
    const auto found = std::find_if(mine.begin(), mine.end(),
                                    [&](const Phase& phase) { return phase.name == name; });
    const double of_phase = found == mine.end() ? 0 : found->seconds;
    rest -= of_phase;
    measured.phases.push_back({name, spread_of(context.comm, of_phase)});
  }
  measured.phases.push_back({"other", spread_of(context.comm, std::max(rest, 0.0))});
  measured.peak_resident = spread_of(context.comm, static_cast<double>(peak_resident_bytes()));
  measured.is_one_process = context.comm.size() == 1 || context.comm.is_of_threads();
  measured.peak_pool =
      spread_of(context.comm, static_cast<double>(memory(context.exec)->peak_bytes()));
  const bool on_device = std::holds_alternative<Cuda>(context.exec);
  const auto of_device = [&](std::size_t bytes) {
    return context.comm.max(on_device ? static_cast<double>(bytes) : 0.0);
  };
  measured.peak_device = of_device(memory(context.exec)->peak_bytes());
  measured.peak_device_held = of_device(memory(context.exec)->peak_held());
  return measured;
}

ReadPerRank read_per_rank(const Communicator& comm, Index num) {
  return {comm.min(num), comm.max(num)};
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
  const double all = run.measured.seconds;
  text += phase_line("all", all, run.num_items, "");
  return {text, {{"phases", phases}, {"seconds", all}}};
}

Row read_per_rank_row(const Run& run, const ReadPerRank& read) {
  const std::string name = run.items + "_per_rank";
  const Json json = {{"min", read.min}, {"max", read.max}};
  return {run.alone ? "" : line("Per rank", "{} to {} {} read", read.min, read.max, run.items),
          {{name.c_str(), json}}};
}

Row peak_memory_row(const Run& run) {
  const Spread& resident = run.measured.peak_resident;
  const Spread& pool = run.measured.peak_pool;
  const auto bytes = [](double value) { return static_cast<std::size_t>(value); };
  const bool is_whole = run.measured.is_one_process;
  const std::string of_process = fmt::format(
      "{}{} resident", is_whole ? "" : "of the rank with most, ", spread_text(resident, is_whole));
  const bool says_more = is_whole && !run.alone;
  const double device = run.measured.peak_device;
  const double held = run.measured.peak_device_held;
  const std::string of_device =
      device > 0 ? line("Device", "{} in use at most, {} held{}", bytes_text(device),
                        bytes_text(held), run.alone ? "" : ", of the rank with most")
                 : "";
  return {
      "\n" +
          line("Peak memory", "{}; {}{} {}", of_process, says_more ? "of the rank with most, " : "",
               run.held, spread_text(pool, run.alone)) +
          of_device,
      {{"peak_resident_bytes", bytes(resident.max)},
       {"mean_peak_resident_bytes", bytes(resident.mean)},
       {"peak_pool_bytes", bytes(pool.max)},
       {"mean_peak_pool_bytes", bytes(pool.mean)},
       {"peak_device_bytes", device > 0 ? Json(bytes(device)) : Json(nullptr)},
       {"peak_device_bytes_held", device > 0 ? Json(bytes(held)) : Json(nullptr)}}};
}

// What a run needs of the memory of devices.

Row device_need_row(const DeviceNeed& need, const RankLayout& ranks) {
  const double bytes = need.of_ranks(ranks.num_ranks);
  const std::string each = ranks.num_ranks > 1
                               ? fmt::format("the device of each of {} ranks", ranks.num_ranks)
                               : std::string("the device");
  return {ranks.on_device ? line("Device", "about {} of {}", bytes_text(bytes), each) : "",
          {{"device_memory_bytes_per_rank", whole_bytes(bytes)}}};
}

std::unique_ptr<DeviceMemoryScope> look_after_devices(const Context& context,
                                                      const DeviceNeed& need) {
  std::unique_ptr<DeviceMemoryScope> scope;
  context.comm.together(
      [&] { scope = std::make_unique<DeviceMemoryScope>(context, need.work, need.of_ranks); });
  return scope;
}

void check_device_need(const Context& context, const DeviceNeed& need, bool is_dry_run,
                       std::vector<std::string>& warnings) {
  try {
    look_after_devices(context, need);
  } catch (const OutOfMemory& error) {
    if (!is_dry_run) throw;
    warnings.emplace_back(error.what());
  }
}

}  // namespace zhalo::app
