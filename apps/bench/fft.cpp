/// zhalo_fft_bench, under mpirun: distributed Fourier transforms beside FFTW's, in turns. Its
/// figures are those of docs/benchmarks.md.
#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "apps/bench/fft_bench.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/options.hpp"
#include "apps/report/text_file.hpp"
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

namespace {

constexpr const char* explanation =
    "Every repetition transforms forward and backward, in place, with transposed modes: zhalo, "
    "then FFTW, then zhalo again. FFTW is its\n"
    "MPI transform on slabs with transposed output and input, on one rank its own (threaded) "
    "transform. Seconds are those of the slowest\n"
    "rank; t is half the median of forward and backward. 'ratio' is FFTW's median over zhalo's.\n"
    "\n"
    "f_lo and f_hi are fractions of what memory and links allow, as measured in the same run, on "
    "all ranks at once. With S = bytes of a\n"
    "rank's field, P = rows x columns ranks, e = exchanges (one if rows > 1, one if columns > 1):\n"
    "  T_mem  = (6 S + 2 S e) / bandwidth of reading and writing an array of S bytes in place\n"
    "  T_link = S ((1 - 1/rows) + (1 - 1/columns)) / bandwidth of an exchange of each rank with "
    "each other, S bytes per rank\n"
    "  f_lo   = max(T_mem, T_link) / t        f_hi = (T_mem + T_link) / t\n"
    "The three passes of a small field may be fewer in caches: a fraction above 1 is no error.";

/// What is on the command line, before it is understood.
struct RawOptions {
  std::vector<Index> sizes = {128, 256, 512};
  std::vector<std::string> types = {"float", "double"};
  std::vector<std::string> splits = {"slab", "pencil"};
  std::vector<std::string> ways = {"shared_memory", "messages"};
  std::string effort = "estimate";
};

void add_options(app::CommandLine& command, RawOptions& words, FftBenchOptions& options) {
  command.add_list("--sizes", words.sizes, "Cells along each axis [128,256,512]", "N,...");
  command.add_list("--types", words.types, "float, double [both]", "TYPE,...");
  command.add_list("--splits", words.splits,
                   "slab, pencil, automatic; those that are the same are run once [slab,pencil]",
                   "SPLIT,...");
  command.add_list(
      "--ways", words.ways,
      "shared_memory, messages, automatic: exchange within a machine [shared_memory,messages]",
      "WAY,...");
  command.add_option("--effort", words.effort, "estimate or measure: of both planners", "EFFORT");
  command.add_option("--threads", options.threads, "Per rank [1]", "T");
  command.add_option("--repetitions", options.repetitions, "After one that is not timed [5]", "R");
  command.add_flag("--peer,!--no-peer", options.peer, "Run FFTW, too, if it is built in [yes]");
  command.add_option("--json", options.json,
                     "Write all figures; - is standard output, and then no table", "FILE");
}

template <class T>
std::vector<T> choices(const char* option, const std::vector<std::string>& words,
                       const std::vector<std::pair<const char*, T>>& known) {
  std::vector<T> chosen;
  chosen.reserve(words.size());
  for (const std::string& word : words) chosen.push_back(app::choice<T>(option, word, known));
  return chosen;
}

void resolve(const RawOptions& words, FftBenchOptions& options) {
  constexpr Index max_size = 32768;
  for (const Index size : words.sizes) {
    app::demand(size >= 1 && size <= max_size,
                fmt::format("--sizes has {} (must be 1 to {})", size, max_size));
  }
  options.sizes = words.sizes;
  options.types = choices<Precision>(
      "--types", words.types,
      {{"float", Precision::single_precision}, {"double", Precision::double_precision}});
  options.splits = choices<Split>(
      "--splits", words.splits,
      {{"slab", Split::slab}, {"pencil", Split::pencil}, {"automatic", Split::automatic}});
  options.ways = choices<NodeExchange>("--ways", words.ways,
                                       {{"shared_memory", NodeExchange::shared_memory},
                                        {"messages", NodeExchange::messages},
                                        {"automatic", NodeExchange::automatic}});
  options.effort = app::choice<PlanEffort>(
      "--effort", words.effort,
      {{"estimate", PlanEffort::estimate}, {"measure", PlanEffort::measure}});
  app::demand(options.threads >= 1 && options.threads <= 4096,
              fmt::format("--threads is {} (must be 1 to 4096)", options.threads));
  app::demand(options.repetitions >= 1 && options.repetitions <= 1000000,
              fmt::format("--repetitions is {} (must be 1 to 1000000)", options.repetitions));
}

}  // namespace

std::optional<std::string> read_options(int argc, const char* const* argv,
                                        FftBenchOptions& options) {
  app::CommandLine command(
      {.name = "zhalo_fft_bench",
       .usage = "[OPTION...]",
       .summary = "Times real distributed Fourier transforms beside FFTW's; start it with mpirun.",
       .footer = explanation});
  RawOptions words;
  add_options(command, words, options);
  std::optional<std::string> help = command.parse(argc, argv);
  if (!help) resolve(words, options);
  return help;
}

}  // namespace zhalo::bench

namespace {

using namespace zhalo;

void run(Context& context, const bench::FftBenchOptions& options) {
  context.exec = host_exec(options.threads);
  app::TextFile file(context.comm, "--json", options.json);
  const bool shown = context.comm.rank() == 0 && options.json != "-";
  app::Json report = bench::json_of_run(context, options);
  app::Json cases = app::Json::array();
  if (shown) app::put(bench::table_head(context, options));
  const auto tell = [&](const bench::FftCaseResult& result) {
    if (shown) app::put(bench::table_row(result));
    cases.push_back(bench::json_of(result));
  };
  for (const Index size : options.sizes) {
    for (const bench::Precision type : options.types)
      bench::run_cases(context, options, size, type, tell);
  }
  report.set("cases", cases);
  file.put(report.text());
  file.commit();
}

void perform(Context& context, int argc, char** argv) {
  bench::FftBenchOptions options;
  const std::optional<std::string> text = bench::read_options(argc, argv, options);
  if (!text) return run(context, options);
  if (context.comm.rank() == 0) app::put(*text);
}

}  // namespace

int main(int argc, char** argv) {
  return app::run_command("zhalo_fft_bench", argc, argv, [&](Context& context, const app::Launch&) {
    perform(context, argc, argv);
  });
}
