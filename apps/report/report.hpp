/// What a run has to say: one list of rows, of which the text for people and the JSON for machines
/// are written.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "zhalo/core/types.hpp"
#include "zhalo/io/snapshot.hpp"

namespace zhalo::app {

/// A JSON value; the members of objects keep the order in which they were given.
class Json {
 public:
  struct Member;

  Json() : Json(nullptr) {}
  Json(std::nullptr_t);  // NOLINT(google-explicit-constructor): values stand for themselves in
                         // reports; so for all below
  Json(bool value);
  Json(Index value);
  Json(std::size_t value);
  /// NaN and infinities are null.
  Json(double value);
  Json(const char* value);
  Json(const std::string& value);
  Json(std::initializer_list<Member> members);
  /// Other integers.
  template <class T>
  requires std::is_integral_v<T> &&(sizeof(T) < sizeof(Index)) Json(T value)
      : Json(static_cast<Index>(value)) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(array_of(values)) {}
  template <class T, std::size_t n>
  Json(const std::array<T, n>& values) : Json(array_of(values)) {}
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json(nullptr)) {}
  Json(const Vec3d& value) : Json(array_of(std::array{value[0], value[1], value[2]})) {}
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json object() { return Json(std::initializer_list<Member>{}); }
  /// Of an array.
  void push_back(const Json& value);
  /// Of an object: the member of that name, made if there is none.
  void set(const char* name, const Json& value);
  /// Adds the members of another object; null has none.
  void update(const Json& other);

  /// Indented text with a newline at its end; bytes that are no UTF-8 are replaced.
  std::string text() const;

 private:
  struct Value;

  template <class Values>
  static Json array_of(const Values& values) {
    Json all = array();
    for (const auto& value : values) all.push_back(value);
    return all;
  }

  std::unique_ptr<Value> value_;
};

struct Json::Member {
  const char* name;
  Json value;
};

/// One thing that is said to people, to machines or to both.
struct Row {
  std::string text;  ///< whole lines; empty: nothing for people
  Json members{};    ///< an object, whose members the report gets; null: nothing for machines

  /// The parts of a row that stand apart among the rows: people and machines are not told
  /// everything in the same order.
  Row for_people() const { return {text}; }
  Row for_machines() const { return {"", members}; }
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

/// Of the keys in the report for machines: grows when one is taken away or means something else.
constexpr int report_version = 1;

/// The rows of a command.
struct Report {
  Rows plan;      ///< what is going to be done
  Rows estimate;  ///< what it may need: in the text of dry runs, and wherever more detail is wanted
  Json output;    ///< where the results go
  std::vector<std::string> warnings;
  std::optional<Rows> result{};  ///< what was done; none after a dry run
  std::string command{};         ///< its name
  std::vector<std::string> command_line{};
};

/// What is said before the work begins.
std::string plan_text(const Report& report, bool verbose);

/// The whole report for machines.
std::string to_json(const Report& report);

/// What is in the snapshot, and an empty line.
Row snapshot_row(const io::SnapshotInfo& info);

/// The files of a snapshot, a line each.
std::string input_lines(const std::vector<std::string>& files);

/// The particles of types that are not `used`, and how the option would take them, too; empty if
/// there are none. `of_option`: the types that it has now.
std::string left_out_line(const io::SnapshotInfo& info, const std::vector<int>& used,
                          const char* option, const std::vector<int>& of_option);

/// Of the box to compute in; `name` begins the line, `unit` is that of lengths.
Row box_row(const std::string& name, const Box& box, const std::string& unit);

/// For programs: an integer, if it is not beyond the integers.
inline Json whole_bytes(std::size_t bytes) { return bytes; }
inline Json whole_bytes(double bytes) {
  return bytes < 0x1p63 ? Json(static_cast<Index>(std::ceil(bytes))) : Json(bytes);
}

/// How much memory a run may need on all ranks, and on each; `what` it is for.
template <class Estimate>
Row memory_need_row(const std::string& what, const Estimate& estimate, int num_ranks) {
  const std::string each =
      fmt::format(", {} on each of {} ranks", bytes_text(estimate.memory_per_rank), num_ranks);
  return {line("Memory", "at most {} for {}{}", bytes_text(estimate.memory), what,
               num_ranks > 1 ? each : ""),
          {{"memory_bytes", whole_bytes(estimate.memory)},
           {"memory_bytes_per_rank", whole_bytes(estimate.memory_per_rank)}}};
}

/// How many of the `items` (their plural) were wrapped into the box; empty if none was.
std::string wrapped_line(Index num, const std::string& items);

/// Paths of what all ranks have written.
Row files_row(const std::vector<std::string>& files);

}  // namespace zhalo::app
