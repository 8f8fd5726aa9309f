#include "apps/fof/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <charconv>
#include <cmath>
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

/// "auto", "host", "cuda" or "cuda:2".
void parse_device(const std::string& word, PlaceRequest& place) {
  const std::string_view numbered = "cuda:";
  if (word.rfind(numbered, 0) == 0) {
    const char* begin = word.data() + numbered.size();
    const auto [end, error] = std::from_chars(begin, word.data() + word.size(), place.device);
    demand(error == std::errc() && end == word.data() + word.size() && place.device >= 0,
           fmt::format("--device is '{}' (must be cuda: and a number such as cuda:1)", word));
    place.processor = Processor::cuda;
    return;
  }
  place.processor = choice<Processor>(
      "--device", word,
      {{"auto", Processor::automatic}, {"host", Processor::host}, {"cuda", Processor::cuda}, {"cuda:N", Processor::cuda}});
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
  parse_device(words.device, options.place);
  demand(!words.threads || (*words.threads >= 0 && *words.threads <= 4096),
         fmt::format("--threads is {} (must be 0, for a fair share of the cores, to 4096)", words.threads.value_or(0)));
  options.place.threads = words.threads.value_or(-1);
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
  demand(options.files.num_files >= 0 && options.files.num_files <= io::most_files,
         fmt::format("--files is {} (must be 1 to {}, or 0 for one per rank)", options.files.num_files, io::most_files));
  demand(!options.output.empty(), "-o is empty: name a folder for the results");
}

}  // namespace

void understand(const Words& words, Options& options) {
  take(words, options);
  check(options);
}

}  // namespace zhalo::fof_app
