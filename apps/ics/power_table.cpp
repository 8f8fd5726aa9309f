#include "apps/ics/ics.hpp"

#include <fmt/format.h>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/cli/options.hpp"
#include "apps/cli/process.hpp"

namespace zhalo::ics_app {
namespace {

using app::demand;

std::string text_of(const std::string& path) {
  std::error_code ignored;
  demand(!std::filesystem::is_directory(path, ignored),
         fmt::format("--linear-power '{}' is a folder: name a file", path));
  errno = 0;
  std::ifstream file(path);
  std::stringstream text;
  if (file) text << file.rdbuf();
  demand(!file.fail(), fmt::format("--linear-power '{}' cannot be read: {}", path,
                                   errno != 0 ? std::strerror(errno) : "it is empty"));
  const std::string byte_order_mark = "\xef\xbb\xbf";  // of UTF-8, as some editors write it
  std::string all = text.str();
  return all.starts_with(byte_order_mark) ? all.substr(byte_order_mark.size()) : all;
}

/// Reads a number up to the next space or the end: "10,5" and "1.0+10" are none.
bool reads_number(std::istream& text, double& number) {
  if (!(text >> number)) return false;
  const int next = text.peek();
  return next == EOF || std::isspace(next) != 0;
}

struct Table {
  std::vector<double> k;
  std::vector<double> power;

  /// One line without its comment. `where` is for messages.
  void add(const std::string& line, const std::string& where) {
    std::istringstream columns(line);
    std::string first;
    if (!(columns >> first)) return;
    std::istringstream numbers(line);
    double wave = 0, value = 0;
    const bool good = reads_number(numbers, wave) && reads_number(numbers, value) &&
                      app::is_positive(wave) && app::is_positive(value);
    demand(good,
           fmt::format("{}: '{}' (must be two positive numbers, k in h/Mpc and P in (Mpc/h)^3)",
                       where, app::in_one_line(line)));
    demand(k.empty() || std::log(wave) > std::log(k.back()),
           fmt::format("{}: k = {} after {} (ln k must ascend)", where, wave,
                       k.empty() ? 0 : k.back()));
    k.push_back(wave);
    power.push_back(value);
  }
};

}  // namespace

LinearPower read_power_table(const Communicator& comm, const std::string& path) {
  std::string text;
  comm.together([&] {
    if (comm.rank() == 0) text = text_of(path);
    text = comm.broadcast(text);
  });
  Table table;
  std::istringstream lines(text);
  Index number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string numbers = line.substr(0, line.find('#'));
    if (numbers.ends_with('\r')) numbers.pop_back();  // of a file with DOS line ends
    table.add(numbers, fmt::format("--linear-power '{}', line {}", path, ++number));
  }
  demand(table.k.size() >= 2, fmt::format("--linear-power '{}' has {} points (must be at least 2)",
                                          path, table.k.size()));
  return {std::move(table.k), std::move(table.power)};
}

}  // namespace zhalo::ics_app
