/// Friends-of-friends on several ranks: as long as it works on one, the others hear so instead of getting the groups of their part.
#include "zhalo/fof/fof.hpp"

#include <catch2/catch.hpp>

#include "zhalo/core/error.hpp"

TEST_CASE("friends_of_friends: one rank finds groups, more are refused on every rank") {
  using namespace zhalo;
  Context context;
  context.comm = Communicator(MPI_COMM_WORLD);
  const std::vector<float> pos{0.1F, 0.1F, 0.1F, 0.2F, 0.1F, 0.1F};
  Particles<float> particles;
  particles.segments.push_back(ParticleSegment<float>::interleaved(pos.data(), 2));
  const auto find = [&] { return friends_of_friends(context, particles, Box::periodic_cube(1), {0.11}); };
  if (context.comm.size() == 1) {
    CHECK(to_host(context.exec, find().label) == std::vector<Index>{0, 0});
  } else {
    CHECK_THROWS_AS(find(), InputError);
    CHECK_THROWS_WITH(find(),
                      Catch::Matchers::Contains("one rank, the communicator has " + std::to_string(context.comm.size())));
  }
}
