/// What a run has to say: one list of rows, of which the text for people and the JSON for machines
/// are written.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/json.hpp"

namespace zhalo::app {

/// One thing that is said to people, to machines or to both.
struct Row {
  std::string text;  ///< whole lines; empty: nothing for people
  Json members{};    ///< an object, whose members the report gets; null: nothing for machines
};
using Rows = std::vector<Row>;

/// A line of the text, in the style of io::describe: its name and a formatted value.
template <class... Values>
std::string line(const std::string& name, fmt::format_string<Values...> format,
                 Values&&... values) {
  return fmt::format("{:<12} {}\n", name, fmt::format(format, std::forward<Values>(values)...));
}

/// "1.5 MiB". Estimates are real numbers: they may be beyond the integers.
std::string bytes_text(double bytes);
std::string bytes_text(std::size_t bytes);

std::string text_of(const Rows& rows);
Json json_of(const Rows& rows);

/// The rows of a command.
struct Report {
  Rows plan;      ///< what is going to be done
  Rows estimate;  ///< what it may need: in the text of dry runs, and wherever more detail is wanted
  Json output;    ///< where the results go
  std::vector<std::string> warnings;
  std::optional<Rows> result{};  ///< what was done; none after a dry run
};

/// What is said before the work begins.
std::string plan_text(const Report& report, bool verbose);

/// The whole report for machines.
std::string to_json(const Report& report);

}  // namespace zhalo::app
