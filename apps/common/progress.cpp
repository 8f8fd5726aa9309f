#include "apps/common/progress.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <cstdio>
#include <utility>

namespace zhalo::app {

Progress::Progress(std::string command, bool shown, bool launched)
    : command_(std::move(command)), shown_(shown), terminal_(!launched && ::isatty(STDOUT_FILENO) == 1) {}

void Progress::begin(const std::string& phase) {
  if (!shown_ || phase == current_) return;
  current_ = phase;
  if (terminal_) {
    put(fmt::format("\r\033[K{:7.1f} s  {} ...", seconds(), phase));
    line_open_ = true;
  } else {
    put(fmt::format("{:7.1f} s  {}\n", seconds(), phase));
  }
}

void Progress::clear() {
  if (line_open_) put("\r\033[K");
  line_open_ = false;
}

void Progress::say(const std::string& text) {
  clear();
  if (shown_) put(text);
}

void Progress::warn(const std::string& sentence) {
  clear();
  if (shown_) fmt::print(stderr, "{}: warning: {}\n", command_, sentence);
}

double Progress::seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace zhalo::app
