#include "tests/fuzz/faults.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <regex>
#include <sstream>

namespace zhalo::fuzz {

namespace {

/// One line of a stack: "#3 0x7f0011223344  (/usr/lib/libhdf5_serial.so.103+0x1234)".
struct Frame {
  std::uintptr_t address = 0;
  std::string module;
};

/// Of the first stack in the report, the innermost first.
std::vector<Frame> first_stack(const std::string& report) {
  static const std::regex line_of_frame(R"(^\s*#(\d+) 0x([0-9a-f]+) .*\((\S+)\+0x[0-9a-f]+\))");
  std::vector<Frame> frames;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_search(line, parts, line_of_frame)) continue;
    if (parts[1] == "0" && !frames.empty()) break;
    frames.push_back({std::stoull(parts[2], nullptr, 16), parts[3]});
  }
  return frames;
}

bool is_hdf5(const Frame& frame) { return frame.module.find("libhdf5") != std::string::npos; }
bool is_zhalo(const Frame& frame) { return frame.module.find("libzhalo") != std::string::npos; }

/// The children have the same addresses as this process, whose fork they are. Static functions have
/// no names.
std::string function_at(const Frame& frame) {
  Dl_info known{};
  const auto* inside = reinterpret_cast<const void*>(frame.address - 1);
  if (::dladdr(inside, &known) == 0 || known.dli_sname == nullptr) return {};
  return known.dli_sname;
}

std::string kind_of_fault(const std::string& report) {
  static const std::regex words(R"((AddressSanitizer|LeakSanitizer): ([A-Za-z-]+))");
  std::smatch parts;
  if (report.find("HANG:") != std::string::npos) return "hang";
  if (std::regex_search(report, parts, words)) return parts[2];
  return report.find("runtime error:") != std::string::npos ? "undefined behaviour" : "crash";
}

/// All calls of HDF5 that zhalo makes but those that fill memory of zhalo's: a report below one of
/// them is about HDF5's own memory. Whether it comes again depends on what that memory happens to
/// hold.
bool fills_memory_of_zhalo(const std::string& call) {
  return call == "H5Dread" || call == "H5Aread" || call == "H5Dwrite" || call.rfind("H5P", 0) == 0;
}

/// What a reader of ours and a plain one make of the same file.
bool is_about_numbers(const std::string& words) {
  for (const char* part :
       {"a plain reader reads", "a plain reader does not read", "of the MassTable"})
    if (words.find(part) != std::string::npos) return true;
  return false;
}

bool wants_memory(const std::string& report) {
  return report.find("AddressSanitizer: allocation-size-too-big") != std::string::npos ||
         report.find("AddressSanitizer: out-of-memory") != std::string::npos ||
         report.find("AddressSanitizer: calloc-overflow") != std::string::npos;
}

}  // namespace

FaultLocation location_of(const std::string& report) {
  FaultLocation location{kind_of_fault(report), {}, {}};
  for (const Frame& frame : first_stack(report)) {
    if (is_zhalo(frame)) break;
    if (!is_hdf5(frame)) {
      if (location.in_hdf5) break;
      continue;  // the runtime's own, memcpy, or the library that inflates
    }
    location.in_hdf5 = true;
    const std::string name = function_at(frame);
    if (name.empty()) continue;
    if (location.function.empty()) location.function = name;
    location.call = name;
  }
  return location;
}

Fault judge(Children& children, const Ending& ending) {
  if (!ending.is_made) return {Cause::zhalo, "the fuzzer itself failed when it made the mutant"};
  if (wants_memory(ending.report)) return {Cause::memory, "more than 256 MiB asked for at once"};
  if (is_about_numbers(ending.words)) {
    const bool is_sound =
        children.ask_hdf5_twice(ending.at).good() && children.ask_hdf5(ending.at).good();
    return {is_sound ? Cause::zhalo : Cause::hdf5, "numbers that change from reading to reading"};
  }
  const FaultLocation location = location_of(ending.report);
  const bool handles = ending.words.find("HDF5 handles stay open") == 0;
  const std::string kind = handles              ? "handles that do not close"
                           : location.in_hdf5   ? fmt::format("{} in {} below {}", location.what,
                                                              location.function, location.call)
                           : ending.signal != 0 ? fmt::format("signal {}", ending.signal)
                                                : location.what;
  if (location.in_hdf5 && !location.call.empty() && !fills_memory_of_zhalo(location.call))
    return {Cause::hdf5, kind};
  // Without a sanitizer there is no report: then the comparison with HDF5 alone decides.
  const bool may_be_hdf5 = location.in_hdf5 || handles || ending.signal != 0;
  if (!may_be_hdf5 || children.ask_hdf5(ending.at).good()) return {Cause::zhalo, kind};
  return {Cause::hdf5, kind};
}

}  // namespace zhalo::fuzz
