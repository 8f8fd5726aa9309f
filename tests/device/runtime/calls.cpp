#include "tests/device/runtime/calls.hpp"

#include <atomic>
#include <charconv>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "tests/device/runtime/report.hpp"
#include "tests/device/runtime/settings.hpp"

namespace zhalo::emulated {
namespace {

constexpr std::array<std::string_view, 6> names_of_failing = {"malloc",      "copy", "launch",
                                                              "synchronise", "load", "plan"};
constinit std::array<std::atomic<std::int64_t>, num_events> seen{};

std::size_t index_of(Event event) { return static_cast<std::size_t>(event); }

[[noreturn]] void refuse(std::string_view text) {
  stop("ZHALO_EMULATED_FAIL has '" + std::string(text) +
       "' (must be a list of CALL:N, where CALL is malloc, copy, launch, synchronise, load or "
       "plan)");
}

/// The numbers of the calls that fail.
class Failures {
 public:
  Failures() {
    std::string_view text = settings().failing_calls;
    while (!text.empty()) {
      const std::size_t comma = text.find(',');
      add(text.substr(0, comma));
      text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
  }
  bool has(Event event, std::int64_t number) {
    const std::lock_guard lock(mutex_);
    return numbers_.at(index_of(event)).contains(number);
  }
  void add(Event event, std::int64_t number) {
    const std::lock_guard lock(mutex_);
    numbers_.at(index_of(event)).insert(number);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto& of_event : numbers_) of_event.clear();
  }

 private:
  void add(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) refuse(text);
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || number < 1) refuse(text);
    for (std::size_t i = 0; i < names_of_failing.size(); ++i) {
      if (names_of_failing[i] != text.substr(0, colon)) continue;
      return add(static_cast<Event>(i), number);
    }
    refuse(text);
  }

  std::mutex mutex_;
  std::array<std::set<std::int64_t>, names_of_failing.size()> numbers_;
};

Failures& failures() {
  static Failures made;
  return made;
}

}  // namespace

Counts counts() {
  Counts now{};
  for (std::size_t i = 0; i < num_events; ++i) now[i] = seen[i].load(std::memory_order_relaxed);
  return now;
}

void count(Event event, std::int64_t times) {
  seen[index_of(event)].fetch_add(times, std::memory_order_relaxed);
}

bool count_and_fail(Event event) {
  const std::int64_t number = seen[index_of(event)].fetch_add(1, std::memory_order_relaxed) + 1;
  return failures().has(event, number);
}

void fail_call(Event event, std::int64_t n) {
  failures().add(event, seen[index_of(event)].load(std::memory_order_relaxed) + n);
}

void fail_no_call() { failures().clear(); }

}  // namespace zhalo::emulated
