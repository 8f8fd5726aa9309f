#include "apps/report/rank_layout.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "apps/cli/process.hpp"

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

std::string runs_on(const std::vector<RankInfo>& all, int num_machines) {
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
  return fmt::format("{} on {}{}", count(static_cast<Index>(all.size()), "rank"),
                     count(num_machines, "machine"), list);
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
  ranks.runs_on = runs_on(all, ranks.num_machines);
  const bool devices =
      std::any_of(all.begin(), all.end(), [](const RankInfo& p) { return p.on_device; });
  ranks.transport = !devices              ? "host memory"
                    : comm.is_gpu_aware() ? "GPU-aware MPI"
                                          : "staged through host memory";
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

}  // namespace zhalo::app
