/// zhalo_bench: times friends-of-friends and the catalogue, on generated points or on a file's.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "apps/bench/points.hpp"
#include "fof_case.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using bench::Cloud;
using bench::CloudSource;
using bench::FofCase;

struct Options {
  std::string points_file;
  double box_length = 1;
  double rlink_abs = 0;
  std::string labels_file;
  std::string write_points;
  std::string kind = "clustered";
  double num = 1e6;
  std::uint64_t seed = 1;
  std::vector<std::string> for_benchmark;
};

void add_options(CLI::App& app, Options& options) {
  app.allow_extras();
  app.footer(
      "Other flags are google-benchmark's: --benchmark_filter=REGEX, --benchmark_list_tests, --benchmark_repetitions=N,\n"
      "--benchmark_out=FILE (JSON). Cases: fof/{uniform,clustered}/{1e5,1e6,1e7}/b{0.2,0.7}/threads:{1,2}; with --points\n"
      "fof/points/b{0.2,0.7}/threads:{1,2} or fof/points/rlink:X/threads:{1,2}; on a CUDA device also .../exec:cuda");
  CLI::Option* points =
      app.add_option("--points", options.points_file, "time the points of FILE: raw little-endian float32 (N,3)");
  app.add_option("--box", options.box_length, "length of the periodic cube that holds the file's points")->needs(points);
  app.add_option("--rlink-abs", options.rlink_abs, "linking length in the file's unit (else 0.2 and 0.7 mean separations)")
      ->needs(points)
      ->check(CLI::PositiveNumber);
  app.add_option("--write-labels", options.labels_file,
                 "only write each particle's label (raw int64, smallest index of its group)")
      ->needs("--rlink-abs");
  CLI::Option* write =
      app.add_option("--write-points", options.write_points, "only write generated points, as --points reads them")
          ->excludes(points);
  app.add_option("--kind", options.kind, "uniform, clustered or dense")->needs(write)->capture_default_str();
  app.add_option("--num", options.num, "number of points")->needs(write)->check(CLI::Range(0.0, 4e9))->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the generator")->needs(write)->capture_default_str();
}

template <class T>
void write_raw(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  file.close();
  if (!file) throw FileError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

Cloud read_points(const std::string& path, double box_length) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw FileError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  const std::streamoff bytes = file.tellg();
  if (bytes % 12 != 0) {
    throw FileError(
        fmt::format("'{}' has {} bytes, not a multiple of 12 (must hold raw float32 positions, 3 per particle)", path, bytes));
  }
  Cloud cloud{std::vector<float>(static_cast<std::size_t>(bytes) / sizeof(float)), box_length};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(cloud.pos.data()), bytes);
  if (!file) throw FileError(fmt::format("cannot read '{}'", path));
  return cloud;
}

/// The case on each Exec of interest.
std::vector<FofCase> on_all_execs(const FofCase& fof_case) {
  std::vector<FofCase> cases;
  for (const int threads : {1, 2}) {
    cases.push_back(fof_case);
    cases.back().name += fmt::format("/threads:{}", threads);
    cases.back().make_exec = [threads] { return host_exec(threads); };
  }
  if (query_devices().num_devices > 0) {
    cases.push_back(fof_case);
    cases.back().name += "/exec:cuda";
    cases.back().make_exec = [] { return cuda_exec(); };
  }
  return cases;
}

std::vector<FofCase> file_cases(const Options& options) {
  const CloudSource source{"file", [options] { return read_points(options.points_file, options.box_length); }};
  if (options.rlink_abs > 0) {
    return on_all_execs({fmt::format("fof/points/rlink:{}", options.rlink_abs), source, options.rlink_abs, true, {}});
  }
  std::vector<FofCase> cases;
  for (const double b : {0.2, 0.7}) {
    for (FofCase& one : on_all_execs({fmt::format("fof/points/b{}", b), source, b, false, {}})) cases.push_back(std::move(one));
  }
  return cases;
}

/// Cases of one cloud follow each other.
std::vector<FofCase> generated_cases() {
  const std::vector<std::pair<const char*, Index>> sizes{{"1e5", 100'000}, {"1e6", 1'000'000}, {"1e7", 10'000'000}};
  std::vector<FofCase> cases;
  for (const char* kind : {"uniform", "clustered"}) {
    for (const auto& [size, num] : sizes) {
      const std::string key = fmt::format("fof/{}/{}", kind, size);
      const CloudSource source{key, [kind, n = num] { return Cloud{points::make_points(points::kind_of(kind), n).pos, 1}; }};
      for (const double b : {0.2, 0.7}) {
        for (FofCase& one : on_all_execs({fmt::format("{}/b{}", key, b), source, b, false, {}}))
          cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

/// "model name" of Linux's /proc/cpuinfo.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

void run_benchmarks(const Options& options, const char* program) {
  bench::CloudStore clouds;
  const std::vector<FofCase> cases = options.points_file.empty() ? generated_cases() : file_cases(options);
  for (const FofCase& one : cases) {
    benchmark::RegisterBenchmark(one.name.c_str(), [&clouds, one](benchmark::State& state) {
      bench::run(state, one, clouds);
    })->Unit(benchmark::kMillisecond);
  }
  std::vector<std::string> words{program, "--benchmark_counters_tabular=true"};
  words.insert(words.end(), options.for_benchmark.begin(), options.for_benchmark.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw InputError(fmt::format("unknown option '{}'; see --help", arguments[1]));
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("zhalo_exec", describe(host_exec(1)));
  benchmark::AddCustomContext("zhalo_build", ZHALO_CHECKED != 0 ? "Debug: times mean nothing" : "Release");
  benchmark::RunSpecifiedBenchmarks();
}

void write_labels(const Options& options) {
  const FofCase one = file_cases(options).front();
  write_raw(options.labels_file, bench::labels(one, one.source.make()));
}

void perform(const Options& options, const char* program) {
  if (!options.write_points.empty()) {
    const Index num = std::llround(options.num);
    write_raw(options.write_points, points::make_points(points::kind_of(options.kind), num, options.seed).pos);
  } else if (!options.labels_file.empty()) {
    write_labels(options);
  } else {
    run_benchmarks(options, program);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times zhalo's friends-of-friends and catalogue.", "zhalo_bench");
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
    options.for_benchmark = app.remaining();
    perform(options, argv[0]);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "zhalo_bench: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
