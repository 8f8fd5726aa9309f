#include "apps/plot/picture.hpp"
#include "zhalo/core/error.hpp"

namespace zhalo::app {

bool can_draw() { return false; }

std::string draw_png(const Picture&) {
  throw InputError(
      "this build cannot draw pictures: install cairo (Debian: libcairo2-dev) and configure with "
      "-DZHALO_CAIRO=ON");
}

}  // namespace zhalo::app
