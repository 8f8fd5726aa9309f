/// What is being done right now: one line that changes on a terminal, a line per phase in a log.
#pragma once

#include <chrono>
#include <string>

namespace zhalo::app {

class Progress {
 public:
  /// `command`: its name. `shown`: else nothing is ever printed. `launched`: by mpirun or srun. Some give rank 0 a terminal of their own,
  /// which says nothing about where the text ends up.
  Progress(std::string command, bool shown, bool launched);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(const std::string& phase);
  /// Takes the changing line away, so that other text can follow.
  void clear();
  /// Prints a text after what was printed so far.
  void say(const std::string& text);
  /// One sentence, to standard error.
  void warn(const std::string& sentence);
  /// Since this object was made.
  double seconds() const;

 private:
  std::string command_;
  bool shown_ = false;
  bool terminal_ = false;
  bool line_open_ = false;
  std::string current_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Writes to standard output at once; what cannot be written (a closed pipe) is lost silently.
void put(const std::string& text);

}  // namespace zhalo::app
