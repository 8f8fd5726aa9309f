#include "apps/fof/words.hpp"

namespace zhalo::fof_app {
namespace {

using app::demand;
using app::is_positive;

void take(const Words& words, Options& options) {
  demand(!words.linking_ratio || !options.linking_length, "--rlink and --rlink-abs are both given: which one is meant?");
  options.linking_ratio = words.linking_ratio.value_or(options.linking_ratio);
  options.link_types = app::parse_types("--link-types", words.link_types);
  options.mean_separation = io::parse_mean_separation(words.mean_separation);
}

void check(const Options& options) {
  demand(is_positive(options.linking_ratio),
         fmt::format("the linking length --rlink is {} (must be positive and finite)", options.linking_ratio));
  demand(!options.linking_length || is_positive(*options.linking_length),
         fmt::format("the linking length --rlink-abs is {} (must be positive and finite)", options.linking_length.value_or(0)));
  demand(options.min_size >= 1, fmt::format("--min-size is {} (must be at least 1)", options.min_size));
  demand(!options.output.empty(), "-o is empty: name a folder for the results");
}

}  // namespace

void understand(const Words& words, Options& options) {
  understand_common(words, "fof", options);
  take(words, options);
  check(options);
}

}  // namespace zhalo::fof_app
