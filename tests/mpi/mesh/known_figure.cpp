/// A figure that another code published for random points, which any right search must meet within
/// the noise.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/support/host_context.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/random.hpp"
#include "zhalo/catalogue/catalogue.hpp"

// 10^6 uniform points in an open unit box, b = 0.7 N^(-1/3), at least 20 members: jz-tree counted
// 1289 groups, the largest of 60 to 64.
TEST_CASE("uniform points in an open box have as many groups as another code found") {
  using namespace zhalo;
  constexpr Index total = 1000000;
  constexpr double published = 1289;
  const Context context = testing::host_context();
  const Share share = share_of(total, context.comm.rank(), context.comm.size());
  testing::Random random(static_cast<std::uint64_t>(context.comm.rank()) + 100);
  std::vector<float> pos;
  for (Index i = 0; i < 3 * share.count; ++i) pos.push_back(static_cast<float>(random.uniform()));
  Particles<float> particles;
  particles.segments.push_back(ParticleSegment<float>::interleaved(pos.data(), share.count));
  Box box;
  box.length = {{1, 1, 1}};
  const FofResult found =
      friends_of_friends(context, particles, box, {0.7 / std::cbrt(static_cast<double>(total))});
  CatalogueOptions options;
  options.min_members = 20;
  const Catalogue catalogue = make_catalogue(context, particles, box, found.label.span(), options);
  // Groups are rare and far apart: their number is Poisson's.
  CHECK(std::abs(static_cast<double>(catalogue.num_groups_total) - published) <
        4 * std::sqrt(published));
  const Index largest =
      context.comm.max(catalogue.length.empty() ? Index{0} : catalogue.length.front());
  CHECK(largest >= 45);
  CHECK(largest <= 90);
}
