/// zhalo_scaling, under mpirun: what groups and catalogue over ranks send, keep, and take. Its
/// figures are those of docs/scaling.md.

#include <mpi.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>

#include "apps/cli/command_line.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/domain/domain.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/points.hpp"

namespace {

using namespace zhalo;

struct Options {
  std::string kind = "uniform";
  Index num = 1000000;
  double ratio = 0.2;  ///< of the mean separation
  int repeats = 3;
  int threads = 1;
};

/// Rank 0 makes the points; each rank gets its share.
std::vector<float> spread_points(const Communicator& comm, const Options& options) {
  points::Points made;
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()));
  if (comm.rank() == 0) {
    made = points::make_points(points::kind_of(options.kind), options.num);
    for (int r = 0; r < comm.size(); ++r)
      counts[static_cast<std::size_t>(r)] = 3 * share_of(options.num, r, comm.size()).count;
  }
  const ExchangePlan plan = comm.plan_exchange(counts);
  std::vector<float> mine(static_cast<std::size_t>(plan.num_received()));
  comm.exchange(host_exec(1), plan, Span<const float>(made.pos), Span<float>(mine));
  return mine;
}

/// One round of the command fof without its files. Bytes are this rank's.
struct Run {
  double seconds = 0;
  FofStatistics statistics;
  std::vector<Phase> phases;
  Index sent_by_search = 0;
  Index sent_by_catalogue = 0;  ///< with velocities and ids
  Index peak_of_search = 0;
  Index peak = 0;
  Index collectives = 0;  ///< of the search, each with a question before it
  Index num_groups = 0;
};

struct Input {
  Particles<float> positions;
  Particles<float> columns;
  std::vector<std::uint64_t> id;
  double linking_length;
};

Run run_once(const Context& context, const Input& input, const Index& collectives) {
  Run run;
  const MemoryPool& pool = *memory(context.exec);
  const Index before = context.comm.bytes_sent();
  const Index collectives_before = collectives;
  Domain<float> domain(context, input.positions, Box::periodic_cube(1),
                       {.min_length = input.linking_length});
  FofResult found = friends_of_friends(domain, {input.linking_length});
  run.collectives = collectives - collectives_before;
  run.statistics = found.statistics;
  run.sent_by_search = context.comm.bytes_sent() - before;
  run.peak_of_search = static_cast<Index>(pool.peak_bytes());
  domain.add_columns({input.columns});
  const Catalogue catalogue = make_catalogue(domain, found, {});
  found = {};
  const ScopedTimer timer(context.timers, "ids");
  const std::vector<Span<const std::uint64_t>> ids{input.id};
  const Buffer<std::uint64_t> of_members = in_group_order(domain, catalogue, ids);
  run.sent_by_catalogue = context.comm.bytes_sent() - before - run.sent_by_search;
  run.peak = static_cast<Index>(pool.peak_bytes());
  run.num_groups = catalogue.num_groups_total;
  return run;
}

Run run_timed(Context& context, const Input& input, const Index& collectives) {
  Timers timers;
  context.timers = &timers;
  memory(context.exec)->reset_peak();
  context.comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  Run run = run_once(context, input, collectives);
  context.comm.barrier();
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.phases = timers.phases();
  context.timers = nullptr;
  return run;
}

void report(const Context& context, const Options& options, const Run& run) {
  const Communicator& comm = context.comm;
  const auto num = static_cast<double>(options.num);
  const auto mean = [&](Index mine) { return static_cast<double>(comm.sum(mine)) / num; };
  const auto max = [&](Index mine) {
    return static_cast<double>(comm.max(mine)) * comm.size() / num;
  };
  const FofStatistics& s = run.statistics;
  const double ghosts = mean(s.ghosts_sent);
  std::string text = fmt::format("{} N {} b {:g} ranks {}: {:.3f} s\n", options.kind, options.num,
                                 options.ratio, comm.size(), run.seconds);
  text += fmt::format(
      "  search     a particle: ghosts {:.5f} (most/mean {:.2f}), edges {:.6f}, sent {:.1f} B, "
      "peak {:.1f} B; rounds {}, collectives {}\n",
      ghosts, ghosts > 0 ? max(s.ghosts_received) / ghosts : 0, mean(s.edges),
      mean(run.sent_by_search), max(run.peak_of_search), s.rounds, run.collectives);
  text += fmt::format("  catalogue  a particle: sent {:.1f} B, peak {:.1f} B; {} groups\n",
                      mean(run.sent_by_catalogue), max(run.peak), run.num_groups);
  text += "  seconds   ";
  for (const Phase& phase : run.phases)
    text += fmt::format(" {} {:.3f}", phase.name, comm.max(phase.seconds));
  if (comm.rank() == 0) fmt::print("{}\n", text);
}

/// What the command reads, but for the values of velocities.
Input input_of(const std::vector<float>& pos, const Options& options) {
  const Index num = static_cast<Index>(pos.size()) / 3;
  Input input;
  input.linking_length = options.ratio / std::cbrt(static_cast<double>(options.num));
  input.positions.segments.push_back(ParticleSegment<float>::interleaved(pos.data(), num));
  input.columns.segments.emplace_back();
  input.columns.segments.front().num = num;
  input.columns.segments.front().set_interleaved_velocity(pos.data());
  input.id.resize(static_cast<std::size_t>(num));
  std::iota(input.id.begin(), input.id.end(), std::uint64_t{1});
  return input;
}

void measure(const Options& options) {
  Context context;
  Index collectives = 0;
  CommunicatorOptions observed;
  observed.observer = [&](const char*) { ++collectives; };
  context.comm = Communicator(MPI_COMM_WORLD, observed);
  context.exec = host_exec(options.threads);
  const std::vector<float> pos = spread_points(context.comm, options);
  const Input input = input_of(pos, options);
  Run best;
  for (int i = 0; i < options.repeats; ++i) {
    Run run = run_timed(context, input, collectives);
    if (i == 0 || run.seconds < best.seconds) best = std::move(run);
  }
  report(context, options, best);
}

/// The text of the help, if that was asked for.
std::optional<std::string> read_options(int argc, const char* const* argv, Options& options) {
  app::CommandLine command({.name = "zhalo_scaling",
                            .usage = "[OPTION...]",
                            .summary = "Bytes, rounds, memory and time of groups and their "
                                       "catalogue over ranks; start it with mpirun."});
  command.add_option("--kind", options.kind, "uniform, clustered or dense [uniform]", "WHICH");
  command.add_option("--particles", options.num, "Over all ranks [1000000]", "N");
  command.add_option("--rlink", options.ratio, "Linking length in mean separations [0.2]", "B");
  command.add_option("--repeats", options.repeats, "The fastest one is told [3]", "R");
  command.add_option("--threads", options.threads, "Per rank [1]", "T");
  return command.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    Options options;
    const std::optional<std::string> help = read_options(argc, argv, options);
    if (help) {
      fmt::print("{}", *help);
    } else {
      measure(options);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "zhalo_scaling: error: {}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
