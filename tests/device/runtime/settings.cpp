#include "tests/device/runtime/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "tests/device/runtime/report.hpp"

namespace zhalo::emulated {
namespace {

std::string_view text_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::uint64_t number_of(const char* name, std::uint64_t otherwise, std::uint64_t max) {
  const std::string_view text = text_of(name);
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number <= max) return number;
  stop(std::string(name) + " is '" + std::string(text) + "' (must be a number up to " +
       std::to_string(max) + ")");
}

/// Index of the word in the list; the first one is taken where nothing is said.
std::size_t choice_of(const char* name, std::initializer_list<std::string_view> words) {
  const std::string_view text = text_of(name);
  if (text.empty()) return 0;
  std::size_t index = 0;
  std::string known;
  for (const std::string_view word : words) {
    if (word == text) return index;
    ++index;
    known += " " + std::string(word);
  }
  stop(std::string(name) + " is '" + std::string(text) + "' (must be one of" + known + ")");
}

Settings read_settings() {
  Settings s;
  s.num_devices = static_cast<int>(number_of("ZHALO_EMULATED_DEVICES", 1, max_devices));
  s.bytes_per_device = number_of("ZHALO_EMULATED_MEMORY", 8192, 32768) << 20;
  s.order =
      static_cast<Order>(choice_of("ZHALO_EMULATED_ORDER", {"forward", "reversed", "random"}));
  s.seed = number_of("ZHALO_EMULATED_SEED", 1, ~std::uint64_t{0});
  s.deferred = choice_of("ZHALO_EMULATED_STREAMS", {"deferred", "immediate"}) == 0;
  s.num_workers = static_cast<int>(number_of("ZHALO_EMULATED_WORKERS", 2, 16));
  if (s.num_workers == 0) stop("ZHALO_EMULATED_WORKERS is 0 (must be 1 to 16)");
  s.failing_calls = text_of("ZHALO_EMULATED_FAIL");
  return s;
}

}  // namespace

const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

}  // namespace zhalo::emulated
