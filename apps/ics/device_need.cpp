// What a run needs of a device: the calls of run.cpp, one after the other.
#include <fmt/format.h>

#include "apps/ics/ics.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo::ics_app {

app::DeviceNeed device_need(const Plan& plan) {
  const Options& options = plan.options;
  const Index side = options.num;
  return {fmt::format("{} particles of initial conditions", plan.num_particles),
          [side, is_double = options.double_precision, order = options.lpt](int ranks) {
            const MeshSize mesh{{{side, side, side}}, ranks, is_double};
            return modes_bytes(mesh) + displace_need(mesh, order).peak;
          }};
}

}  // namespace zhalo::ics_app
