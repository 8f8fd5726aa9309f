#include "apps/fof/raw_options.hpp"

#include <algorithm>
#include <charconv>

namespace zhalo::fof_app {
namespace {

using app::demand;
using app::is_positive;

double parse_radius(const std::string& word) {
  double radius = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), radius);
  demand(error == std::errc() && end == word.data() + word.size() && radius >= 0,
         fmt::format(
             "--attach-radius is '{}' (must be a number of linking lengths, 0 or more, or inf)",
             word));
  return radius;
}

void take_attach(const RawOptions& words, const std::vector<int>& link_types, Attach& attach) {
  if (!words.attach_types.empty())
    attach.types = app::parse_types("--attach-types", words.attach_types);
  for (const int type : attach.types) {
    demand(std::count(link_types.begin(), link_types.end(), type) == 0,
           fmt::format("type {} is in both --link-types and --attach-types: linked particles need "
                       "not be attached",
                       type));
  }
  demand(!words.attach_radius || !attach.types.empty(),
         "--attach-radius is given, but no --attach-types: nothing is attached");
  if (words.attach_radius) attach.radius = parse_radius(*words.attach_radius);
  attach.only_linked_count =
      app::choice<bool>("--min-counts", words.min_counts, {{"linkers", true}, {"all", false}});
}

void take(const RawOptions& words, Options& options) {
  demand(!words.linking_ratio || !options.linking_length,
         "--rlink and --rlink-abs are both given: which one is meant?");
  options.linking_ratio = words.linking_ratio.value_or(options.linking_ratio);
  options.link_types = app::parse_types("--link-types", words.link_types);
  take_attach(words, options.link_types, options.attach);
  options.mean_separation = io::parse_mean_separation(words.mean_separation);
}

void check(const Options& options) {
  demand(is_positive(options.linking_ratio),
         fmt::format("the linking length --rlink is {} (must be positive and finite)",
                     options.linking_ratio));
  demand(!options.linking_length || is_positive(*options.linking_length),
         fmt::format("the linking length --rlink-abs is {} (must be positive and finite)",
                     options.linking_length.value_or(0)));
  demand(options.min_size >= 1,
         fmt::format("--min-size is {} (must be at least 1)", options.min_size));
  demand(!options.output.empty(), "-o is empty: name a folder for the results");
}

}  // namespace

std::vector<int> all_types(const std::vector<int>& link_types, const Attach& attach) {
  std::vector<int> types = link_types;
  types.insert(types.end(), attach.types.begin(), attach.types.end());
  return types;
}

void resolve(const RawOptions& words, Options& options) {
  resolve_common(words, "fof", options);
  take(words, options);
  check(options);
}

}  // namespace zhalo::fof_app
