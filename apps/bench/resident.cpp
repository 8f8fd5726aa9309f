#include "resident.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace zhalo::bench {

void reset_resident_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

std::optional<Resident> resident() {
  std::ifstream status("/proc/self/status");
  Resident result;
  std::string key;
  while (status >> key) {
    if (key == "VmHWM:") status >> result.peak;
    if (key == "VmRSS:") status >> result.now;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  if (result.now == 0) return std::nullopt;
  return Resident{result.now * 1024, result.peak * 1024};
}

}  // namespace zhalo::bench
