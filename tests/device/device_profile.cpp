/// Prints what each kernel moves of a device's memory, and the lines that move most, in one of the
/// cases of counted.hpp.
///   device_profile CASE [NUM]     NUM: particles, 20000 unless given
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/device/counted.hpp"
#include "tests/device/runtime/profile.hpp"

namespace zhalo::emulated {
namespace {

constexpr std::size_t max_lines = 10;

/// Where this program was loaded.
std::uintptr_t find_base() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
        return 1;  // the first one is the program
      },
      &base);
  return base;
}

/// "/zhalo/kernels/sort.hpp:12 (discriminator 3)" -> "kernels/sort.hpp:12"
std::string short_line(std::string line) {
  line = line.substr(0, line.find_first_of(" \n"));
  const std::size_t folder = line.find("/kernels/");
  return folder == std::string::npos ? line.substr(line.rfind('/') + 1) : line.substr(folder + 1);
}

/// Of functions that are inlined into each other, the innermost first: the algorithm's own line,
/// not that of the small functions that it is written with.
std::string choose_line(const std::vector<std::string>& stacks) {
  for (const std::string& line : stacks)
    if (line.starts_with("kernels/common/")) return line;
  return stacks.empty() ? "?" : stacks.front();
}

/// A line of the source for each instruction, by the debugger's tables.
std::vector<std::string> lines_of(const std::vector<profile::Instruction>& all) {
  const std::uintptr_t base = find_base();
  std::string command = fmt::format("addr2line -a -i -e /proc/{}/exe", getpid());
  for (const auto& one : all) command += fmt::format(" {:x}", one.address - base - 1);
  std::vector<std::vector<std::string>> stacks;
  std::FILE* answers = popen(command.c_str(), "r");
  char text[4096];
  while (answers != nullptr && std::fgets(text, sizeof text, answers) != nullptr) {
    const std::string line(text);
    if (line.starts_with("0x"))
      stacks.emplace_back();
    else if (!stacks.empty())
      stacks.back().push_back(short_line(line));
  }
  if (answers != nullptr) pclose(answers);
  stacks.resize(all.size());
  std::vector<std::string> lines;
  for (const auto& of_one : stacks) lines.push_back(choose_line(of_one));
  return lines;
}

/// The functor's name out of the parameters of a kernel.
std::string short_name(std::string kernel) {
  const std::size_t comma = kernel.find(", ");
  if (comma != std::string::npos) kernel = kernel.substr(comma + 2);
  kernel = kernel.substr(0, kernel.find_first_of("<)"));
  return kernel.substr(kernel.rfind(':') + 1);
}

using KernelLine = std::pair<std::string, std::string>;  ///< kernel and line

std::map<KernelLine, profile::Instruction> sums_of_lines() {
  const std::vector<profile::Instruction> all = profile::instructions();
  const std::vector<std::string> lines = lines_of(all);
  std::map<KernelLine, profile::Instruction> by_line;
  for (std::size_t i = 0; i < all.size(); ++i) {
    profile::Instruction& to = by_line[{short_name(all[i].kernel), lines[i]}];
    to.requests += all[i].requests;
    to.lanes += all[i].lanes;
    to.sectors += all[i].sectors;
    to.bytes += all[i].bytes;
  }
  return by_line;
}

double per(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

/// Those that move most come first.
template <class Key>
std::vector<std::pair<Key, profile::Instruction>> sorted_sums(
    const std::map<Key, profile::Instruction>& sums) {
  std::vector<std::pair<Key, profile::Instruction>> sorted(sums.begin(), sums.end());
  std::sort(sorted.begin(), sorted.end(),
            [](auto& a, auto& b) { return a.second.sectors > b.second.sectors; });
  return sorted;
}

void print_kernels(const std::map<KernelLine, profile::Instruction>& by_line, Index num) {
  std::map<std::string, profile::Instruction> by_kernel;
  for (const auto& [line, one] : by_line) {
    by_kernel[line.first].sectors += one.sectors;
    by_kernel[line.first].bytes += one.bytes;
  }
  fmt::print("| kernel | bytes per particle | used |\n| --- | ---: | ---: |\n");
  for (const auto& [kernel, one] : sorted_sums(by_kernel))
    fmt::print("| `{}` | {:.1f} | {:.0f}% |\n", kernel, 32 * per(one.sectors, num),
               100 * per(one.bytes, 32 * one.sectors));
  fmt::print("\n");
}

void print_table(Index num) {
  const auto by_line = sums_of_lines();
  std::int64_t sum = 0;
  std::int64_t requests = 0;
  for (const auto& [line, one] : by_line) {
    sum += one.sectors;
    requests += one.requests;
  }
  fmt::print("{:.1f} bytes per particle in sectors of 32, by {:.2f} requests of warps\n\n",
             32 * per(sum, num), per(requests, num));
  print_kernels(by_line, num);
  auto sorted = sorted_sums(by_line);
  fmt::print(
      "| kernel | line | share | sectors per particle | sectors per request | lanes | used |\n");
  fmt::print("| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  sorted.resize(std::min(sorted.size(), max_lines));
  for (const auto& [line, one] : sorted)
    fmt::print("| `{}` | `{}` | {:.1f}% | {:.3g} | {:.3g} | {:.3g} | {:.0f}% |\n", line.first,
               line.second, 100 * per(one.sectors, sum), per(one.sectors, num),
               per(one.sectors, one.requests), per(one.lanes, one.requests),
               100 * per(one.bytes, 32 * one.sectors));
}

}  // namespace
}  // namespace zhalo::emulated

int main(int argc, char** argv) {
  const zhalo::Index num = argc > 2 ? std::atoll(argv[2]) : 20000;
  if (argc < 2 || num < 1 || !zhalo::emulated::run_case(argv[1], num)) {
    fmt::print(stderr,
               "device-profile: no case of that name (fof/KIND/b0.2, catalogue/KIND/b0.2, "
               "knn/self/KIND/k8 with KIND uniform or clustered)\n");
    return 2;
  }
  zhalo::emulated::print_table(num);
}
