#include "apps/fof/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "zhalo/core/error.hpp"

namespace zhalo::fof_app {
namespace {

void demand(bool good, const std::string& message) {
  if (!good) throw InputError(message);
}

template <class T>
T choice(const char* name, const std::string& word, const std::vector<std::pair<const char*, T>>& choices) {
  std::vector<const char*> known;
  for (const auto& [text, value] : choices) {
    if (word == text) return value;
    known.push_back(text);
  }
  throw InputError(fmt::format("{} is '{}' (must be {})", name, word, fmt::join(known, ", ")));
}

/// OMP_NUM_THREADS, or 0 if it is not set or says nothing clear. Of a list "4,2" the first counts: one level is used.
int threads_from_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return 0;
  const std::string_view value(text);
  int threads = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  const bool whole = end == value.data() + value.size() || *end == ',';
  return error == std::errc() && whole && threads > 0 ? threads : 0;
}

/// "1" or "0,1,4".
std::vector<int> parse_types(const std::string& list) {
  std::vector<int> types;
  std::istringstream stream(list + ",");
  for (std::string item; std::getline(stream, item, ',');) {
    int type = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), type);
    demand(error == std::errc() && end == item.data() + item.size() && type >= 0,
           fmt::format("--link-types is '{}' (must be particle types such as 1 or 0,1,4)", list));
    types.push_back(type);
  }
  return types;
}

void take(const Words& words, Options& options) {
  demand(!options.snapshot.empty(), "no snapshot is given (fof --help shows how)");
  demand(!words.linking_ratio || !options.linking_length, "--rlink and --rlink-abs are both given: which one is meant?");
  demand(!words.quiet || !words.verbose, "--quiet and --verbose are both given: which one is meant?");
  options.linking_ratio = words.linking_ratio.value_or(options.linking_ratio);
  options.link_types = parse_types(words.link_types);
  options.mean_separation = io::parse_mean_separation(words.mean_separation);
  options.periodicity = choice<io::Periodicity>(
      "--periodic", words.periodic,
      {{"auto", io::Periodicity::automatic}, {"yes", io::Periodicity::yes}, {"no", io::Periodicity::no}});
  options.device =
      choice<Device>("--device", words.device, {{"auto", Device::automatic}, {"host", Device::host}, {"cuda", Device::cuda}});
  options.threads = words.threads ? *words.threads : threads_from_environment();
  if (words.quiet) options.verbosity = Verbosity::quiet;
  if (words.verbose) options.verbosity = Verbosity::verbose;
}

void check(const Options& options) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  demand(positive(options.linking_ratio),
         fmt::format("the linking length --rlink is {} (must be positive and finite)", options.linking_ratio));
  demand(!options.linking_length || positive(*options.linking_length),
         fmt::format("the linking length --rlink-abs is {} (must be positive and finite)", options.linking_length.value_or(0)));
  demand(!options.box_length || positive(*options.box_length),
         fmt::format("--box-size is {} (must be positive and finite)", options.box_length.value_or(0)));
  demand(options.min_size >= 1, fmt::format("--min-size is {} (must be at least 1)", options.min_size));
  demand(options.threads >= 0 && options.threads <= 4096,
         fmt::format("--threads is {} (must be 0, for all, to 4096)", options.threads));
  demand(!options.output.empty(), "-o is empty: name a folder for the results");
}

}  // namespace

void understand(const Words& words, Options& options) {
  take(words, options);
  check(options);
}

}  // namespace zhalo::fof_app
