#include "tests/fuzz/run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/seeds.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

std::string working_folder() {
  std::error_code ignored;
  const char* chosen = std::getenv("TMPDIR");
  const std::string base = fs::is_directory("/dev/shm", ignored) ? "/dev/shm"
                           : chosen != nullptr                   ? chosen
                                                                 : "/tmp";
  return fmt::format("{}/zhalo-fuzz-{}", base, ::getpid());
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> block{};
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), pipe))
    output.append(block.data(), size);
  ::pclose(pipe);
  return output;
}

class Run {
 public:
  Run(const RunOptions& options, std::string program, const std::vector<Seed>& seeds,
      const std::string& folder)
      : options_(options),
        program_(std::move(program)),
        children_(folder, seeds, options.children) {}

  RunResult run() {
    const auto start = Clock::now();
    if (const Ending ending = children_.try_seeds(); !ending.good())
      note_finding(0, fmt::format("a seed as it is: {}", ending.words), ending.report);
    Number next = options_.first;
    const Number end = options_.first + options_.mutants < options_.first
                           ? ~Number{0}
                           : options_.first + options_.mutants;
    while (next < end && seconds_since(start) < options_.seconds)
      next = try_batch({next, std::min(batch, end - next)});
    result_.seconds = seconds_since(start);
    result_.processor_seconds = seconds_of_children();
    result_.counts = children_.counts();
    return result_;
  }

 private:
  static constexpr Number batch = 400;

  /// Returns the number to go on with.
  Number try_batch(Numbers numbers) {
    const Ending ending = children_.try_numbers(numbers);
    if (ending.good()) return numbers.first + numbers.num;
    if (ending.status == Status::leak) {
      find_leak(numbers);
      return numbers.first + numbers.num;
    }
    note(ending);
    return ending.at + 1;
  }

  /// Halves until the mutant is found.
  void find_leak(Numbers numbers) {
    if (numbers.num <= 1)
      return note_finding(numbers.first, "a leak: memory that nothing points to", "");
    const Numbers lower{numbers.first, numbers.num / 2};
    const Ending ending = children_.try_numbers(lower);
    if (ending.status == Status::leak) return find_leak(lower);
    find_leak({lower.first + lower.num, numbers.num - lower.num});
  }

  void note(const Ending& ending) {
    const Fault fault = judge(children_, ending);
    if (fault.cause == Cause::zhalo)
      return note_finding(ending.at, ending.words.empty() ? fault.kind : ending.words,
                          ending.report);
    auto& faults = fault.cause == Cause::hdf5 ? result_.hdf5 : result_.memory;
    RunResult::Named& named = faults[fault.kind];
    if (named.times++ == 0) named.first = ending.at;
  }

  /// Names take time to look up: another process does it, of this mutant alone. `report`: what the
  /// sanitizer said where the fault was met, which may need the mutants before.
  void note_finding(Number number, const std::string& words, const std::string& report) {
    constexpr std::size_t longest_report = 6000;
    fmt::print("FINDING: mutant {}: {}\n{}\n", number, words, report.substr(0, longest_report));
    result_.findings.push_back({number, words});
    constexpr std::size_t max_told = 20;
    if (number == 0 || result_.findings.size() > max_told) return;
    const std::string keep =
        options_.findings.empty() ? "" : fmt::format(" --keep '{}/{}'", options_.findings, number);
    const std::string told =
        output_of(fmt::format("'{}' --only {}{} 2>&1", program_, number, keep));
    fmt::print("{}\nAgain: {} --only {}\n\n", told, program_, number);
    std::fflush(stdout);
    if (options_.findings.empty()) return;
    fs::create_directories(options_.findings);
    std::ofstream(fmt::format("{}/{}.txt", options_.findings, number))
        << fmt::format("{}\n\n{}\n\n{}", words, report, told);
  }

  const RunOptions& options_;
  std::string program_;
  Children children_;
  RunResult result_;
};

/// What an earlier run saved there.
void remove_saved(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (fs::exists(entry.path() / "reading")) fs::remove_all(entry.path());
  }
}

void write_figures(const RunResult& result, const std::string& path) {
  std::ofstream file(path);
  const Counts& counts = result.counts;
  file << fmt::format(
      "seconds {:.1f}\nprocessor_seconds {:.1f}\nmutants {}\nsnapshots {}\ncatalogues {}\npoints "
      "{}\ntables {}\n",
      result.seconds, result.processor_seconds, counts.mutants, counts.snapshots, counts.catalogues,
      counts.points, counts.tables);
  for (const Finding& finding : result.findings)
    file << fmt::format("finding {} {}\n", finding.number, finding.words);
  for (const auto& [kind, named] : result.hdf5)
    file << fmt::format("hdf5 {} {} {}\n", named.times, named.first, kind);
  for (const auto& [kind, named] : result.memory)
    file << fmt::format("memory {} {} {}\n", named.times, named.first, kind);
}

}  // namespace

RunResult run(const RunOptions& options, const std::string& program) {
  const std::string folder = working_folder();
  const std::vector<Seed> seeds = make_seeds(folder);
  if (!options.children.save.empty()) remove_saved(options.children.save);
  Run whole(options, program, seeds, folder);
  RunResult result = whole.run();
  if (!options.summary.empty()) write_figures(result, options.summary);
  return result;
}

void print(const RunResult& result) {
  const Counts& counts = result.counts;
  const auto mutants = static_cast<double>(counts.mutants);
  fmt::print("{} mutants in {:.0f} s, {:.0f} a second ({:.0f} a second of processor time)\n",
             counts.mutants, result.seconds, mutants / result.seconds,
             mutants / result.processor_seconds);
  fmt::print("read: {} snapshots, {} catalogues, {} lists of points, {} tables\n", counts.snapshots,
             counts.catalogues, counts.points, counts.tables);
  for (const auto& [kind, named] : result.hdf5)
    fmt::print("HDF5's own fault, {} times, first by mutant {}: {}\n", named.times, named.first,
               kind);
  for (const auto& [kind, named] : result.memory)
    fmt::print("refused for want of memory, {} times, first by mutant {}: {}\n", named.times,
               named.first, kind);
  fmt::print("{} findings\n", result.findings.size());
}

}  // namespace zhalo::fuzz
