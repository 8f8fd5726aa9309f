// fuzz                          60 seconds of new mutants; or:
//   --seconds S                 so many seconds
//   --mutants N                 no more than so many
//   --first NUMBER              from this mutant on; else from one that the clock gives
//   --findings FOLDER           keeps the files of mutants that found something
//   --save FOLDER               keeps some mutants that were read, for check_successes.py
//   --max-saved N               how many of them (300)
//   --summary FILE              figures for a program
// fuzz --only NUMBER            one mutant again, in this process; --keep FOLDER keeps its files
// fuzz --ask NUMBER             the same calls of HDF5 without zhalo
// fuzz --corpus FOLDER          the inputs that found something before
// The exit status is 1 if there is a finding.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/fuzz/corpus.hpp"
#include "tests/fuzz/plain.hpp"
#include "tests/fuzz/run.hpp"
#include "tests/fuzz/trial.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

namespace {

/// Options and their values, as they were given.
using RawOptions = std::map<std::string, std::string>;

RawOptions raw_options(int argc, char** argv) {
  RawOptions given;
  for (int i = 1; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
  need(argc % 2 == 1, "each option has a value (see main.cpp)");
  for (const auto& [option, value] : given) {
    const bool known = std::string(
                           " --seconds --mutants --first --findings --save --max-saved --summary "
                           "--only --keep --ask --corpus ")
                           .find(" " + option + " ") != std::string::npos;
    need(known, "option " + option + " is not known");
  }
  return given;
}

std::string absolute(const RawOptions& given, const char* option) {
  const auto found = given.find(option);
  return found == given.end() ? "" : fs::absolute(found->second).string();
}

/// Microseconds: no run makes a million mutants a second, so that no two runs make the same.
Number number_from_clock() {
  using std::chrono::microseconds;
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<Number>(std::chrono::duration_cast<microseconds>(since).count());
}

RunOptions run_options(const RawOptions& given) {
  RunOptions options;
  const auto number = [&](const char* option, Number otherwise) {
    return given.count(option) > 0 ? std::stoull(given.at(option)) : otherwise;
  };
  if (given.count("--seconds") > 0) options.seconds = std::stod(given.at("--seconds"));
  options.mutants = number("--mutants", options.mutants);
  options.first = number("--first", number_from_clock());
  options.findings = absolute(given, "--findings");
  options.summary = absolute(given, "--summary");
  options.children.save = absolute(given, "--save");
  options.children.max_saved = number("--max-saved", 300);
  return options;
}

/// Reports of this process are to have names. The runtime reads that when it starts.
void restart_with_symbols(char** argv) {
  if (std::getenv("ZHALO_FUZZ_AGAIN") != nullptr) return;
  ::setenv("ASAN_OPTIONS", with_symbols(std::getenv("ASAN_OPTIONS")).c_str(), 1);
  ::setenv("ZHALO_FUZZ_AGAIN", "1", 1);
  ::execv("/proc/self/exe", argv);
}

/// Writes the mutant into a folder of its own, in which `work` runs.
template <class Work>
void in_own_folder(Number number, const std::string& keep, const Work& work) {
  const std::string folder = working_folder();
  const std::vector<Seed> seeds = make_seeds(folder);
  fs::create_directories(folder);
  fs::current_path(folder);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Mutant mutant = write_mutant(number, seeds);
  fmt::print("{}\n", mutant.description());
  std::fflush(stdout);
  if (!keep.empty()) {
    fs::create_directories(keep);
    fs::copy(".", keep,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks |
                 fs::copy_options::overwrite_existing);
  }
  limit_seconds(20);
  work(mutant);
  fs::current_path("/");
  fs::remove_all(folder);
}

int try_only(Number number, const std::string& keep) {
  bool good = true;
  in_own_folder(number, keep, [&](const Mutant& mutant) {
    const Trial trial = try_mutant(mutant);
    fmt::print("snapshot: {}\n", words_of(trial.snapshot));
    for (const auto& [type, reading] : trial.snapshot.types)
      fmt::print("  type {}: {}\n", type, words_of(reading));
    fmt::print("catalogue: {}\npoints: {}\ntable: {}\n", words_of(trial.catalogue),
               words_of(trial.points), words_of(trial.table));
    if (!trial.finding.empty()) fmt::print("FINDING: {}\n", trial.finding);
    good = trial.finding.empty() && !has_leaks();
  });
  return good ? 0 : 1;
}

int ask_only(Number number) {
  in_own_folder(number, "", [](const Mutant& mutant) {
    const LeftOverHandles handles;
    ask_everything(*mutant.seed);
    fmt::print("HDF5 has answered. {}\n", handles.words());
  });
  return 0;
}

int run_as_told(int argc, char** argv) {
  const RawOptions given = raw_options(argc, argv);
  if (given.count("--corpus") > 0) return replay_corpus(given.at("--corpus")) == 0 ? 0 : 1;
  if (given.count("--only") > 0 || given.count("--ask") > 0) restart_with_symbols(argv);
  if (given.count("--only") > 0)
    return try_only(std::stoull(given.at("--only")), absolute(given, "--keep"));
  if (given.count("--ask") > 0) return ask_only(std::stoull(given.at("--ask")));
  const RunOptions options = run_options(given);
  fmt::print("mutants from number {} on\n", options.first);
  std::fflush(stdout);
  const RunResult result = run(options, fs::canonical("/proc/self/exe").string());
  print(result);
  return result.findings.empty() ? 0 : 1;
}

}  // namespace

}  // namespace zhalo::fuzz

int main(int argc, char** argv) {
  try {
    return zhalo::fuzz::run_as_told(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fuzz: {}\n", error.what());
    return 2;
  }
}
