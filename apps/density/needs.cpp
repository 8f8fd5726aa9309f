#include "apps/density/options.hpp"

namespace zhalo::density_app {

bool writes_field(const Options& options) {
  return !options.output.empty() || (options.power.empty() && options.image.empty());
}
bool needs_field(const Options& options) { return writes_field(options) || !options.image.empty(); }
Compensation field_compensation(const Options& options) {
  return options.compensation.value_or(Compensation::none);
}
Compensation power_compensation(const Options& options) {
  return options.compensation.value_or(options.interlaced ? Compensation::window
                                                          : Compensation::shot_noise);
}

}  // namespace zhalo::density_app
