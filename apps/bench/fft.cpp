/// zhalo_fft_bench, under mpirun: distributed Fourier transforms beside FFTW's, in turns. Its
/// figures are those of docs/benchmarks.md.
#include "apps/cli/command.hpp"
#include "apps/report/text_file.hpp"
#include "fft_report.hpp"

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
