/// zhalo_fft_bench, under mpirun: distributed Fourier transforms beside FFTW's, in turns. Its
/// figures are those of docs/benchmarks.md.

#include <fmt/format.h>

#include "apps/bench/fft_bench.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/options.hpp"
#include "apps/report/text_file.hpp"

namespace zhalo::bench {
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
  app::JsonFile file(context.comm, options.json);
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
  file.write(report.text());
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
