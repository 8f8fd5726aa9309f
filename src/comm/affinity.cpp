#include "zhalo/comm/context.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "src/comm/state.hpp"
#include "src/core/cores.hpp"
#include "src/core/validate.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo {
namespace {

constexpr int max_threads = 4096;

/// OMP_NUM_THREADS, or 0 if it is not set or says nothing clear. Of a list "4,2" the first counts:
/// one level is used.
int threads_from_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return 0;
  constexpr const char* blank = " \t";
  text += std::strspn(text, blank);
  int threads = 0;
  const auto [number_end, error] = std::from_chars(text, text + std::strlen(text), threads);
  const char* const end = number_end + std::strspn(number_end, blank);
  const bool whole = *end == '\0' || *end == ',';
  return error == std::errc() && whole && threads > 0 ? threads : 0;
}

/// 0: the fair share.
int threads_wanted(const ExecRequest& request) {
  const int wanted = request.threads < 0 ? threads_from_environment() : request.threads;
  if (wanted > max_threads)
    throw InputError(
        fmt::format("number of threads is {} (must be at most {})", wanted, max_threads));
  return wanted;
}

Exec choose_here(const ExecRequest& request, int node_rank, int fair) {
  validate_enumerator(request.processor, Processor::cuda, "the processor");
  const bool on_host = request.processor == Processor::host;
  const bool names_device = request.device >= 0;
  validate(!on_host || !names_device,
           "device {} is asked for, and the host as the processor; ask for one of them",
           request.device);
  const int threads = threads_wanted(request);
  const int devices = on_host ? 0 : query_devices().num_devices;
  const bool needs_device = names_device || request.processor == Processor::cuda;
  if (!needs_device && devices == 0) return host_exec(threads > 0 ? threads : fair);
  const int turn = devices > 0 ? node_rank % devices : 0;
  return cuda_exec(request.device < 0 ? turn : request.device);
}

}  // namespace

int fair_threads_of(const cpu_set_t& mine, const std::vector<cpu_set_t>& all) {
  double share = 0;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &mine)) continue;
    const auto users = std::count_if(
        all.begin(), all.end(), [&](const cpu_set_t& set) { return CPU_ISSET(core, &set) != 0; });
    share += 1.0 / static_cast<double>(users);
  }
  return std::max(1, static_cast<int>(share + 1e-6));  // eight eighths are one
}

int fair_threads(const Communicator& comm) {
  const Communicator machine = comm.split_by_machine();
  const std::optional<cpu_set_t> known = cores_of_process();
  const cpu_set_t mine = known.value_or(cpu_set_t{});
  // An error of one rank must first reach those that wait for it on this machine.
  return together(machine, [&] {
    const std::vector<cpu_set_t> all = machine.all_gather(mine);
    if (machine.min(Index{known ? 1 : 0}) == 0)  // divided evenly
      return std::max(1, available_threads() / machine.size());
    return fair_threads_of(mine, all);
  });
}

Exec choose_exec(const Communicator& comm, const ExecRequest& request) {
  return together(comm, [&] {
    const int fair = fair_threads(comm);
    return choose_here(request, comm.node_rank(), fair);
  });
}

}  // namespace zhalo
