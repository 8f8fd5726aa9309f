/// zhalo_scaling, under mpirun: what a search over ranks sends, keeps, and takes. Its figures are
/// those of docs/scaling.md.

#include <mpi.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "apps/cli/command_line.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/error.hpp"
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

struct Run {
  double seconds = 0;
  FofStatistics statistics;
  std::vector<Phase> phases;
  Buffer<Index> label;
  Index peak = 0;         ///< bytes
  Index collectives = 0;  ///< each with a question before it
};

/// What the catalogue of these groups costs, in bytes.
struct CatalogueCost {
  Index sent = 0;
  Index peak = 0;
  Index num_groups = 0;
};

CatalogueCost make_groups(const Context& context, const Particles<float>& particles,
                          Span<const Index> label) {
  const Index before = context.comm.bytes_sent();
  memory(context.exec)->reset_peak();
  const Catalogue catalogue = make_catalogue(context, particles, Box::periodic_cube(1), label, {});
  return {context.comm.bytes_sent() - before,
          static_cast<Index>(memory(context.exec)->peak_bytes()), catalogue.num_groups_total};
}

Run run_once(const Context& base, const Particles<float>& particles, double linking_length,
             Timers& timers) {
  base.comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  FofResult found = friends_of_friends(base, particles, Box::periodic_cube(1), {linking_length});
  base.comm.barrier();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {seconds, found.statistics, timers.phases(), std::move(found.label)};
}

void report(const Context& context, const Options& options, const Run& run,
            const CatalogueCost& cost) {
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
      "peak {:.1f} B; rounds {}, "
      "collectives {}\n",
      ghosts, ghosts > 0 ? max(s.ghosts_received) / ghosts : 0, mean(s.edges), mean(s.bytes_sent),
      max(run.peak), s.rounds, run.collectives);
  text += fmt::format("  catalogue  a particle: sent {:.1f} B, peak {:.1f} B; {} groups\n",
                      mean(cost.sent), max(cost.peak), cost.num_groups);
  text += "  seconds   ";
  for (const Phase& phase : run.phases)
    text += fmt::format(" {} {:.3f}", phase.name, comm.max(phase.seconds));
  if (comm.rank() == 0) fmt::print("{}\n", text);
}

void measure(const Options& options) {
  Context context;
  Index collectives = 0;
  CommunicatorOptions observed;
  observed.observer = [&](const char*) { ++collectives; };
  context.comm = Communicator(MPI_COMM_WORLD, observed);
  context.exec = host_exec(options.threads);
  const std::vector<float> pos = spread_points(context.comm, options);
  Particles<float> particles;
  particles.segments.push_back(
      ParticleSegment<float>::interleaved(pos.data(), static_cast<Index>(pos.size()) / 3));
  const double linking_length = options.ratio / std::cbrt(static_cast<double>(options.num));
  Run best;
  for (int i = 0; i < options.repeats; ++i) {
    Timers timers;
    context.timers = &timers;
    memory(context.exec)->reset_peak();
    collectives = 0;
    Run run = run_once(context, particles, linking_length, timers);
    run.collectives = collectives;
    run.peak = static_cast<Index>(memory(context.exec)->peak_bytes());
    if (i == 0 || run.seconds < best.seconds) best = std::move(run);
  }
  context.timers = nullptr;
  report(context, options, best, make_groups(context, particles, best.label.span()));
}

/// The text of the help, if that was asked for.
std::optional<std::string> read_options(int argc, const char* const* argv, Options& options) {
  app::CommandLine command({.name = "zhalo_scaling",
                            .usage = "[OPTION...]",
                            .summary = "Bytes, rounds, memory and time of friends-of-friends over "
                                       "ranks; start it with mpirun."});
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
