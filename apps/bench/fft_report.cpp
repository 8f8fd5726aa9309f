#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "apps/bench/fft_bench.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/core/for_each.hpp"

namespace zhalo::bench {
namespace {

constexpr int turns = 4;
constexpr Index piece = Index{1} << 14;

/// Reads and writes piece i of an array in place.
struct NegatePiece {
  float* values;
  Index size;

  void operator()(Index i) const {
    const Index end = std::min(size, (i + 1) * piece);
    for (Index k = i * piece; k < end; ++k) values[k] = -values[k];
  }
};

/// The least of some turns, the first one left out: it touches new pages.
double min_seconds(const Communicator& comm, const std::function<void()>& work) {
  double seconds = std::numeric_limits<double>::max();
  work();
  for (int turn = 0; turn < turns; ++turn) seconds = std::min(seconds, seconds_of(comm, work));
  return seconds;
}

double memory_bandwidth(const Context& context, Index size) {
  Buffer<float> array(context.exec, size, "array to measure the memory");
  std::fill_n(array.data(), size, 1.0F);
  const double seconds = min_seconds(context.comm, [&] {
    for_each(context.exec, (size + piece - 1) / piece, NegatePiece{array.data(), size});
  });
  return 2 * static_cast<double>(size * Index{sizeof(float)}) / seconds;
}

double link_bandwidth(const Context& context, Index size) {
  const Communicator& comm = context.comm;
  if (comm.size() == 1) return 0;
  const Index part = std::max<Index>(1, size / comm.size());
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()), part);
  counts[static_cast<std::size_t>(comm.rank())] = 0;
  const ExchangePlan plan = comm.plan_exchange(counts);
  Buffer<float> sent(context.exec, plan.num_sent(), "array to send");
  Buffer<float> received(context.exec, plan.num_received(), "array to receive");
  std::fill_n(sent.data(), sent.size(), 1.0F);
  const double seconds = min_seconds(comm, [&] {
    comm.exchange(context.exec, plan, Span<const float>(sent.span()), received.span());
  });
  return static_cast<double>(plan.num_sent() * Index{sizeof(float)}) / seconds;
}

}  // namespace

Bandwidths measure_bandwidths(const Context& context, Index bytes) {
  const Index size = std::max<Index>(1, bytes / Index{sizeof(float)});
  return {memory_bandwidth(context, size), link_bandwidth(context, size)};
}

FftLimit limit_of(const Bandwidths& bandwidths, double bytes, const std::array<int, 2>& shape) {
  double passes = 6;
  double crossing = 0;
  for (const int ranks : shape) {
    if (ranks > 1) passes += 2;
    crossing += 1 - 1 / static_cast<double>(ranks);
  }
  return {passes * bytes / bandwidths.memory,
          crossing > 0 ? crossing * bytes / bandwidths.link : 0};
}

namespace {

using app::Json;

constexpr const char* row_format =
    "{:>5} {:<6} {:<9} {:<13}  {:>8} {:>8} {:>8} {:>8}  {:>8} {:>8} {:>8} {:>8}  {:>5}  {:>5} "
    "{:>5} {:>5}  {:>8} {:>8} {:>8}  {:>8} {:>8}\n";

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); }
std::string mebibytes(const std::optional<double>& bytes) {
  return bytes ? fmt::format("{:.1f}", *bytes / 1048576) : "-";
}
std::string fraction(double value) { return fmt::format("{:.2f}", value); }
std::string tiny(double value) { return fmt::format("{:.1e}", value); }

const char* word_of(PlanEffort effort) {
  return effort == PlanEffort::measure ? "measure" : "estimate";
}
const char* build() { return ZHALO_CHECKED != 0 ? "Debug: times mean nothing" : "Release"; }

/// Median of one transform, the mean of both ways.
double transform_seconds(const FftSide& side) { return median(side.both_seconds()) / 2; }

double ratio(const FftCaseResult& result) {
  return median(result.peer->both_seconds()) / median(result.zhalo.both_seconds());
}

std::string shape_text(const std::array<int, 2>& shape) {
  return fmt::format("{} x {}", shape[0], shape[1]);
}

Json json_of_side(const FftSide& side, const FftLimit& limit) {
  const double seconds = transform_seconds(side);
  const std::vector<double> both = side.both_seconds();
  return {{"describe", side.describe},
          {"plan_seconds", side.plan_seconds},
          {"forward_seconds", side.forward_seconds},
          {"backward_seconds", side.backward_seconds},
          {"median_seconds", median(both)},
          {"min_seconds", min_of(both)},
          {"exchange_seconds", side.exchange_seconds},
          {"memory_limit_seconds", limit.memory_seconds},
          {"link_limit_seconds", limit.link_seconds},
          {"f_lo", limit.lowest() / seconds},
          {"f_hi", limit.highest() / seconds},
          {"array_bytes", side.array_bytes},
          {"workspace_bytes", side.workspace_bytes},
          {"shared_bytes", side.shared_bytes},
          {"peak_resident_bytes", side.peak_resident_bytes},
          {"bytes_sent", side.bytes_sent},
          {"round_trip_error", side.round_trip_error}};
}

}  // namespace

std::string table_head(const Context& context, const FftBenchOptions& options) {
  const std::string peer =
      options.peer ? peer_name().value_or("none: FFTW's MPI transforms are not built in")
                   : "none: not wanted";
  std::string text = fmt::format(
      "Ranks        {} of {} thread{}\nPlanning     {}\nRepetitions  {}\nPeer         {}\nBuild    "
      "    {}\n\n",
      context.comm.size(), options.threads, options.threads > 1 ? "s" : "", word_of(options.effort),
      options.repetitions, peer, build());
  text += fmt::format(fmt::runtime(row_format), "", "", "", "", "zhalo ms", "", "", "", "peer ms",
                      "", "", "", "", "zhalo", "", "peer", "zhalo", "zhalo", "peer", "", "spectra");
  text +=
      fmt::format(fmt::runtime(row_format), "size", "type", "ranks", "exchange", "plan", "forward",
                  "backward", "least", "plan", "forward", "backward", "least", "ratio", "f_lo",
                  "f_hi", "f_hi", "MiB sent", "MiB peak", "MiB peak", "error", "differ");
  return text;
}

std::string table_row(const FftCaseResult& result) {
  const FftSide& ours = result.zhalo;
  const double seconds = transform_seconds(ours);
  std::array<std::string, 8> peer;
  peer.fill("-");
  if (result.peer) {
    const FftSide& side = *result.peer;
    peer = {milliseconds(side.plan_seconds),
            milliseconds(median(side.forward_seconds)),
            milliseconds(median(side.backward_seconds)),
            milliseconds(min_of(side.both_seconds())),
            fraction(ratio(result)),
            fraction(result.peer_limit.highest() / transform_seconds(side)),
            mebibytes(side.peak_resident_bytes),
            tiny(difference(ours.mark, side.mark))};
  }
  return fmt::format(
      fmt::runtime(row_format), result.num, result.type, shape_text(result.shape), result.way,
      milliseconds(ours.plan_seconds), milliseconds(median(ours.forward_seconds)),
      milliseconds(median(ours.backward_seconds)), milliseconds(min_of(ours.both_seconds())),
      peer[0], peer[1], peer[2], peer[3], peer[4], fraction(result.limit.lowest() / seconds),
      fraction(result.limit.highest() / seconds), peer[5], mebibytes(ours.bytes_sent),
      mebibytes(ours.peak_resident_bytes), peer[6], tiny(ours.round_trip_error), peer[7]);
}

Json json_of_run(const Context& context, const FftBenchOptions& options) {
  return {{"program", "zhalo_fft_bench"},
          {"version", ZHALO_VERSION},
          {"build", build()},
          {"exec", describe(context.exec)},
          {"ranks", context.comm.size()},
          {"threads", options.threads},
          {"effort", word_of(options.effort)},
          {"repetitions", options.repetitions},
          {"peer", options.peer ? peer_name() : std::nullopt}};
}

Json json_of(const FftCaseResult& result) {
  Json json = {{"size", result.num},
               {"type", result.type},
               {"decomposition", result.decomposition},
               {"shape", result.shape},
               {"exchange", result.way},
               {"memory_bytes_per_second", result.bandwidths.memory},
               {"link_bytes_per_second", result.bandwidths.link},
               {"zhalo", json_of_side(result.zhalo, result.limit)},
               {"peer", nullptr},
               {"ratio_of_medians", nullptr},
               {"ratio_of_min", nullptr},
               {"spectra_difference", nullptr}};
  if (!result.peer) return json;
  json.set("peer", json_of_side(*result.peer, result.peer_limit));
  json.set("ratio_of_medians", ratio(result));
  json.set("ratio_of_min",
           min_of(result.peer->both_seconds()) / min_of(result.zhalo.both_seconds()));
  json.set("spectra_difference", difference(result.zhalo.mark, result.peer->mark));
  return json;
}

}  // namespace zhalo::bench
