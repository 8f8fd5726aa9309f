#include "apps/cli/progress.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <utility>

namespace zhalo::app {

Progress::Progress(ProgressOptions options)
    : options_(std::move(options)),
      stream_(options_.to_errors ? stderr : stdout),
      shown_(options_.speaks && !options_.quiet),
      terminal_(!options_.launched && ::isatty(::fileno(stream_)) == 1) {}

void Progress::begin(const std::string& phase) {
  if (!shown_ || phase == current_) return;
  current_ = phase;
  if (terminal_) {
    put(fmt::format("\r\033[K{:7.1f} s  {} ...", seconds(), phase), stream_);
    line_open_ = true;
  } else if (std::find(told_.begin(), told_.end(), phase) == told_.end()) {
    told_.push_back(phase);
    put(fmt::format("{:7.1f} s  {}\n", seconds(), phase), stream_);
  }
}

void Progress::clear() {
  if (line_open_) put("\r\033[K", stream_);
  line_open_ = false;
}

void Progress::say(const std::string& text) {
  clear();
  if (shown_) put(text, stream_);
}

void Progress::warn(const std::string& sentence) {
  clear();
  if (options_.speaks)
    put(fmt::format("{}: warning: {}\n", options_.command, in_one_line(sentence)), stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string in_one_line(const std::string& message) {
  std::string line;
  for (const char c : message) {
    const bool is_control = (c >= 0 && c < ' ') || c == '\x7f';
    line += is_control ? fmt::format("\\x{:02x}", static_cast<int>(c)) : std::string(1, c);
  }
  return line;
}

std::string in_ascii(const std::string& message) {
  std::string text;
  for (const char c : in_one_line(message)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x80 ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text;
}

void put(const std::string& text, std::FILE* stream) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace zhalo::app
