#include "apps/bench/footprint.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace zhalo::bench {
namespace {

/// The number of kibibytes behind a word, in bytes; 0 if there is none.
std::size_t bytes_of(const char* path, const std::string& word) {
  std::ifstream file(path);
  for (std::string key; file >> key;) {
    std::size_t kibibytes = 0;
    if (key == word && file >> kibibytes) return kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace

void reset_resident_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

std::size_t shared_resident_excess() {
  const std::size_t counted = bytes_of("/proc/self/status", "RssShmem:");
  const std::size_t own_share = bytes_of("/proc/self/smaps_rollup", "Pss_Shmem:");
  return own_share > 0 && counted > own_share ? counted - own_share : 0;
}

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
