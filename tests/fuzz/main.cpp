// fuzz                          60 seconds of new mutants; or:
//   --seconds S                 so many seconds
//   --mutants N                 no more than so many
//   --first NUMBER              from this mutant on; else from one that the clock gives
//   --findings FOLDER           keeps the files of mutants that found something
//   --save FOLDER               keeps some mutants that were read, for check_successes.py
//   --most-saved N              how many of them (300)
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

using Words = std::map<std::string, std::string>;

Words words_of_line(int argc, char** argv) {
  Words words;
  for (int i = 1; i + 1 < argc; i += 2) words[argv[i]] = argv[i + 1];
  need(argc % 2 == 1, "each option has a value (see main.cpp)");
  for (const auto& [option, value] : words) {
    const bool known = std::string(
                           " --seconds --mutants --first --findings --save --most-saved --summary "
                           "--only --keep --ask --corpus ")
                           .find(" " + option + " ") != std::string::npos;
    need(known, "option " + option + " is not known");
  }
  return words;
}

std::string absolute(const Words& words, const char* option) {
  const auto found = words.find(option);
  return found == words.end() ? "" : fs::absolute(found->second).string();
}

/// Microseconds: no run makes a million mutants a second, so that no two runs make the same.
Number number_from_clock() {
  using std::chrono::microseconds;
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<Number>(std::chrono::duration_cast<microseconds>(since).count());
}

RunOptions run_options(const Words& words) {
  RunOptions options;
  const auto number = [&](const char* option, Number otherwise) {
    return words.count(option) > 0 ? std::stoull(words.at(option)) : otherwise;
  };
  if (words.count("--seconds") > 0) options.seconds = std::stod(words.at("--seconds"));
  options.mutants = number("--mutants", options.mutants);
  options.first = number("--first", number_from_clock());
  options.findings = absolute(words, "--findings");
  options.summary = absolute(words, "--summary");
  options.children.save = absolute(words, "--save");
  options.children.max_saved = number("--most-saved", 300);
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
  const Words words = words_of_line(argc, argv);
  if (words.count("--corpus") > 0) return replay_corpus(words.at("--corpus")) == 0 ? 0 : 1;
  if (words.count("--only") > 0 || words.count("--ask") > 0) restart_with_symbols(argv);
  if (words.count("--only") > 0)
    return try_only(std::stoull(words.at("--only")), absolute(words, "--keep"));
  if (words.count("--ask") > 0) return ask_only(std::stoull(words.at("--ask")));
  const RunOptions options = run_options(words);
  fmt::print("mutants from number {} on\n", options.first);
  std::fflush(stdout);
  const Summary summary = run(options, fs::canonical("/proc/self/exe").string());
  print(summary);
  return summary.findings.empty() ? 0 : 1;
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
