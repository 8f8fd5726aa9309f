/// The words of a command line and their meaning, as far as all commands have them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/options.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::app {

/// What is on the command line, before it is understood.
struct RunWords {
  std::string device = "auto";
  std::optional<int> threads;
  bool quiet = false;
  bool verbose = false;
  bool version = false;
};

struct CommonWords : RunWords {
  std::string periodic = "auto";
};

/// The layout of the help. `usage`: what follows the command's name.
void set_layout(CLI::App& app, const std::string& usage);
/// The layout, and the snapshot.
void add_snapshot(CLI::App& app, CommonOptions& options);
/// --periodic and --box-size.
void add_box_options(CLI::App& app, CommonOptions& options, CommonWords& words);
/// --files to --version. `dry_run`: what the command's dry run does.
void add_run_options(CLI::App& app, RunOptions& options, RunWords& words, const std::string& dry_run);

/// Reads the command line. Returns a text to print instead of running, for --help and --version. InputError.
std::optional<std::string> read_words(CLI::App& app, const RunWords& words, int argc, const char* const* argv);

/// Turns words into options and checks all of these. Throws InputError.
void understand_run(const RunWords& words, RunOptions& options);
/// `name`: the command's.
void understand_common(const CommonWords& words, const std::string& name, CommonOptions& options);

/// Throws InputError with the message unless `good`.
void demand(bool good, const std::string& message);

/// Finite and more than zero.
bool is_positive(double value);

/// "1" or "0,1,4"; `option` is for the message.
std::vector<int> parse_types(const char* option, const std::string& list);

/// The value that a word stands for.
template <class T>
T choice(const char* option, const std::string& word, const std::vector<std::pair<const char*, T>>& choices) {
  std::vector<const char*> known;
  for (const auto& [text, value] : choices) {
    if (word == text) return value;
    known.push_back(text);
  }
  throw InputError(fmt::format("{} is '{}' (must be {})", option, word, fmt::join(known, ", ")));
}

}  // namespace zhalo::app
