#include "apps/report/measure.hpp"

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

}  // namespace zhalo::app
