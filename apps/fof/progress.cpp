#include "apps/fof/progress.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <cstdio>

namespace zhalo::fof_app {

Progress::Progress(bool shown, bool launched) : shown_(shown), terminal_(!launched && ::isatty(STDOUT_FILENO) == 1) {}

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

double Progress::seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace zhalo::fof_app
