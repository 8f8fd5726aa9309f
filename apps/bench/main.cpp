/// zhalo_bench: times friends-of-friends, the catalogue and the k nearest neighbours, on generated points or on a file's, painting and
/// sampling of meshes, and Fourier transforms.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "apps/bench/points.hpp"
#include "cases.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;

struct Options {
  bench::PointsFile points;
  std::string labels_file;
  std::string neighbours_file;
  int k = 8;
  std::string write_points;
  std::string kind = "clustered";
  double num = 1e6;
  std::uint64_t seed = 1;
  std::vector<std::string> for_benchmark;
};

void add_options_of_files(CLI::App& app, Options& options) {
  CLI::Option* points =
      app.add_option("--points", options.points.path, "time the points of FILE: raw little-endian float32 (N,3)");
  app.add_option("--box", options.points.box_length, "length of the periodic cube that holds the file's points")->needs(points);
  app.add_option("--rlink-abs", options.points.linking_length,
                 "linking length in the file's unit (else 0.2 and 0.7 mean separations)")
      ->needs(points)
      ->check(CLI::PositiveNumber);
  app.add_option("--write-labels", options.labels_file,
                 "only write each particle's label (raw int64, smallest index of its group)")
      ->needs("--rlink-abs");
  CLI::Option* neighbours =
      app.add_option("--write-neighbours", options.neighbours_file,
                     "only write each particle's nearest neighbours (raw: float32 distances (N,k), then int64 indices (N,k))")
          ->needs(points)
          ->excludes("--write-labels");
  app.add_option("--k", options.k, "number of these neighbours, the particle itself included")
      ->needs(neighbours)
      ->capture_default_str();
}

void add_options(CLI::App& app, Options& options) {
  app.allow_extras();
  app.footer(
      "Other flags are google-benchmark's: --benchmark_filter=REGEX, --benchmark_list_tests, --benchmark_repetitions=N,\n"
      "--benchmark_out=FILE (JSON). Cases: fof/{uniform,clustered}/{1e5,1e6,1e7}/b{0.2,0.7}/threads:{1,2} and\n"
      "knn/{self,queries,reduce}/{uniform,clustered}/{1e5,1e6,1e7}/k{8,16,32,64}/threads:{1,2} and\n"
      "{paint,sample}/{ngp,cic,tsc,pcs}/{uniform,clustered}/{1e6,1e7}/{z-order,random}/threads:{1,2} and\n"
      "fft/{float,double}/{128,256,512}/threads:{1,2}; with --points\n"
      "fof/points/b{0.2,0.7}/threads:{1,2} and knn/points/k{8,16,32,64}/threads:{1,2}, with --rlink-abs only\n"
      "fof/points/rlink:X/threads:{1,2}; on a CUDA device also .../exec:cuda");
  add_options_of_files(app, options);
  CLI::Option* write =
      app.add_option("--write-points", options.write_points, "only write generated points, as --points reads them")
          ->excludes("--points");
  app.add_option("--kind", options.kind, "uniform, clustered or dense")->needs(write)->capture_default_str();
  app.add_option("--num", options.num, "number of points")->needs(write)->check(CLI::Range(0.0, 4e9))->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the generator")->needs(write)->capture_default_str();
}

template <class T>
void append_raw(std::ofstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

template <class... Columns>
void write_raw(const std::string& path, const Columns&... columns) {
  std::ofstream file(path, std::ios::binary);
  (append_raw(file, columns), ...);
  file.close();
  if (!file) throw FileError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

/// "model name" of Linux's /proc/cpuinfo.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

template <class Case, class Clouds>
void add_benchmarks(const std::vector<Case>& cases, Clouds& clouds) {
  for (const Case& one : cases) {
    benchmark::RegisterBenchmark(one.name.c_str(), [&clouds, one](benchmark::State& state) {
      bench::run(state, one, clouds);
    })->Unit(benchmark::kMillisecond);
  }
}

void run_benchmarks(const Options& options, const char* program) {
  bench::CloudStore fof_clouds;
  bench::KnnClouds knn_clouds;
  bench::CloudStore mesh_clouds;
  const bench::Cases cases = options.points.path.empty() ? bench::generated_cases() : bench::file_cases(options.points);
  add_benchmarks(cases.fof, fof_clouds);
  add_benchmarks(cases.knn, knn_clouds);
  add_benchmarks(cases.mesh, mesh_clouds);
  for (const bench::TransformCase& one : cases.fft) {
    benchmark::RegisterBenchmark(one.name.c_str(), [one](benchmark::State& state) {
      bench::run(state, one);
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
  const bench::FofCase one = bench::file_cases(options.points).fof.front();
  write_raw(options.labels_file, bench::labels(one, one.source.make()));
}

void write_neighbours(const Options& options) {
  const bench::KnnCase one = bench::neighbours_case(options.points, options.k);
  const bench::NeighbourTable table = bench::neighbours(one, one.particles.make());
  write_raw(options.neighbours_file, table.distance, table.index);
}

void perform(const Options& options, const char* program) {
  if (!options.write_points.empty()) {
    const Index num = std::llround(options.num);
    write_raw(options.write_points, points::make_points(points::kind_of(options.kind), num, options.seed).pos);
  } else if (!options.labels_file.empty()) {
    write_labels(options);
  } else if (!options.neighbours_file.empty()) {
    write_neighbours(options);
  } else {
    run_benchmarks(options, program);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times zhalo's friends-of-friends, catalogue, k nearest neighbours, painting, sampling and Fourier transforms.",
               "zhalo_bench");
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
