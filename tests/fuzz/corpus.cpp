#include "tests/fuzz/corpus.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "tests/fuzz/children.hpp"
#include "tests/fuzz/run.hpp"
#include "tests/fuzz/trial.hpp"

namespace zhalo::fuzz {

namespace fs = std::filesystem;

namespace {

/// A line of `outcomes`: file, reader, "read", "refused:" or "any" (all but a crash), and words of
/// the refusal.
struct Line {
  std::string file;
  std::string reader;
  std::string outcome;
  std::string words;
};

std::vector<Line> lines_of(const std::string& path) {
  std::vector<Line> lines;
  std::ifstream file(path);
  need(static_cast<bool>(file), "reading " + path);
  for (std::string text; std::getline(file, text);) {
    Line line;
    std::istringstream words(text);
    if (text.empty() || text.front() == '#') continue;
    words >> line.file >> line.reader >> line.outcome >> std::ws;
    std::getline(words, line.words);
    lines.push_back(line);
  }
  return lines;
}

/// A snapshot is read if all its types with particles are.
Reading reading_by(const Trial& trial, const std::string& reader) {
  if (reader == "catalogue") return trial.catalogue;
  if (reader == "table") return trial.table;
  if (reader == "points") return trial.points;
  need(reader == "snapshot", "an unknown reader in outcomes: " + reader);
  for (const auto& [type, reading] : trial.snapshot.types) {
    if (!reading.succeeded()) return reading;
  }
  return trial.snapshot;
}

std::string check_line(const Trial& trial, const Line& line) {
  const Reading reading = reading_by(trial, line.reader);
  if (line.outcome == "any") return {};
  const std::string outcome = words_of(reading);
  if (outcome.rfind(line.outcome, 0) == 0 && outcome.find(line.words) != std::string::npos)
    return {};
  return fmt::format("the reader of a {} should have '{} ... {}', but has '{}'", line.reader,
                     line.outcome, line.words, outcome);
}

std::string check_file(const Line& line) {
  limit_seconds(20);
  const Seed seed{"corpus", Kind::snapshot, line.file, {}};
  const Mutant mutant{0, &seed, {}};
  const Trial trial = try_mutant(mutant);
  return trial.finding.empty() ? check_line(trial, line) : trial.finding;
}

/// True if all is as it should be. A crash is seen as such.
bool replay(const std::string& folder, const Line& line) {
  const pid_t child = ::fork();
  need(child >= 0, "a fork");
  if (child == 0) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    fs::current_path(folder);
    const std::string wrong = check_file(line);
    if (!wrong.empty()) fmt::print("{}: {}\n", line.file, wrong);
    std::fflush(stdout);
    ::_exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) fmt::print("{}: killed by signal {}\n", line.file, WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) > 1)
    fmt::print("{}: status {}\n", line.file, WEXITSTATUS(status));
  return status == 0;
}

/// Files that nobody expects anything of are mistakes.
int unnamed_files(const std::string& folder, const std::vector<Line>& lines) {
  std::set<std::string> named{"outcomes", "parts"};
  for (const Line& line : lines) named.insert(line.file);
  int num = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (named.count(name) > 0) continue;
    fmt::print("{} is not in outcomes\n", name);
    ++num;
  }
  return num;
}

}  // namespace

int replay_corpus(const std::string& folder) {
  const std::vector<Line> lines = lines_of(folder + "/outcomes");
  need(!lines.empty(), "an empty corpus");
  int wrong = unnamed_files(folder, lines);
  for (const Line& line : lines) wrong += replay(folder, line) ? 0 : 1;
  fmt::print("{} inputs of the corpus, {} wrong\n", lines.size(), wrong);
  return wrong;
}

}  // namespace zhalo::fuzz
