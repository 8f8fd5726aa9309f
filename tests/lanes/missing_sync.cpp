// Negative control: the walk without its syncs. ThreadSanitizer must report a data race, or the
// lanes tests could not be trusted.
//
//   missing_sync synced|unsynced
#include <cstdio>
#include <cstring>

#include "tests/lanes/emulated_lanes.hpp"
#include "tests/lanes/small_tree.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

template <class Lanes>
void link() {
  const SmallTree<float> small(uniform_points<float>(100, Box::periodic_cube(1), 0.2, 3), 12);
  Buffer<LocalIndex> parent;
  Buffer<std::uint8_t> connected;
  const auto fof = small.fof(parent, connected, 0);
  kernels::link_inside(small.exec(), fof);
  for_each_emulated<Lanes>(1, fof.tree.level_size[0], kernels::emulated::LinkBetween<Lanes>{{fof}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "synced") == 0) {
    link<EmulatedLanes<float, 4>>();
  } else {
    link<UnsyncedLanes<float, 4>>();
  }
  std::puts("linked");
  return 0;
}
