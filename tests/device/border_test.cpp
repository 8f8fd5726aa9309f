// What goes to the host of ranks that share groups: it grows with the edges between their sets,
// not with the particles at the border. Each rank has a device of its own, so that the ghosts
// themselves go by what stands in for NCCL.
#include <catch2/catch.hpp>

#include <vector>

#include "tests/device/runtime/calls.hpp"
#include "tests/device/sample.hpp"
#include "tests/support/random.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo::emulated {
namespace {

constexpr Index num_filaments = 9;
constexpr Index num_of_filament = 2000;

/// Straight lines through the whole box along x, far from each other.
std::vector<float> filaments() {
  zhalo::testing::Random random(3);
  std::vector<float> pos;
  for (Index line = 0; line < num_filaments; ++line) {
    for (Index i = 0; i < num_of_filament; ++i) {
      const double along = (static_cast<double>(i) + 0.5 * random.uniform()) / num_of_filament;
      pos.push_back(static_cast<float>(along));
      pos.push_back(0.15F + 0.3F * static_cast<float>(line % 3));
      pos.push_back(0.15F + 0.3F * static_cast<float>(line / 3));
    }
  }
  return pos;
}

/// Of all ranks.
struct AtBorder {
  Index ghosts = 0;
  Index edges = 0;
  Index bytes_to_host = 0;
};

/// A second call: the first one builds the tree.
AtBorder look_at_border(const Context& context, const Domain<float>& domain, double length) {
  const FofOptions options{.linking_length = length};
  friends_of_friends(domain, options);
  const auto at = static_cast<std::size_t>(Event::bytes_to_host);
  const std::int64_t before = counts().at(at);
  const FofStatistics statistics = friends_of_friends(domain, options).statistics;
  return {context.comm.sum(statistics.ghosts_received), context.comm.sum(statistics.edges),
          context.comm.sum(counts().at(at) - before)};
}

}  // namespace

TEST_CASE("what goes to the host does not grow with the ghosts") {
  const Context context = on_device();
  REQUIRE(context.comm.choose_transport(context.exec) == Transport::nccl);
  const Sample sample(context, filaments());
  const Domain<float> domain(context, sample.particles(), sample.box, {.min_length = 0.004});
  const AtBorder thin = look_at_border(context, domain, 0.004);
  const AtBorder thick = look_at_border(context, domain, 0.08);
  REQUIRE(thin.edges >= num_filaments);
  REQUIRE(thick.edges <= thin.edges);
  REQUIRE(thick.ghosts >= thin.ghosts + 1000);
  CHECK(thick.bytes_to_host <= thin.bytes_to_host);
}

}  // namespace zhalo::emulated
