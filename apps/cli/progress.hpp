/// What is being done right now: one line that changes on a terminal. In a log each phase has a
/// line, when it first begins: some alternate hundreds of times.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace zhalo::app {

struct ProgressOptions {
  std::string command;    ///< its name
  bool speaks = true;     ///< else nothing is ever printed, as on all ranks but 0
  bool quiet = false;     ///< only warnings
  bool launched = false;  ///< by mpirun or srun: some give rank 0 a terminal of its own, which says
                          ///< nothing about where the text ends up
  bool to_errors =
      false;  ///< the text goes to standard error, for a result goes to standard output
};

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(const std::string& phase);
  /// Takes the changing line away, so that other text can follow.
  void clear();
  /// Prints a text after what was printed so far.
  void say(const std::string& text);
  /// One sentence, to standard error, also if quiet.
  void warn(const std::string& sentence);
  /// Since this object was made.
  double seconds() const;

 private:
  ProgressOptions options_;
  std::FILE* stream_ = stdout;
  bool shown_ = false;
  bool terminal_ = false;
  bool line_open_ = false;
  std::string current_;
  std::vector<std::string> told_;  ///< phases, in a log
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// With escapes for line ends and whatever else a terminal would obey: names of files and words of
/// a damaged file may hold such bytes.
std::string in_one_line(const std::string& message);
/// Also with escapes for bytes that are not ASCII.
std::string in_ascii(const std::string& message);

/// Writes at once; what cannot be written (a closed pipe) is lost silently.
void put(const std::string& text, std::FILE* stream = stdout);

}  // namespace zhalo::app
