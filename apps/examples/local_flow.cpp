/// local_flow [PARTICLES]: density and flow around each particle by a reduction of its own
/// (docs/neighbours.md). The same file is compiled by a host compiler and, where there is a CUDA
/// toolkit, by nvcc.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/knn/reduce.hpp"
#include "zhalo/knn/within.hpp"

namespace {

using zhalo::Index;
using Velocity = zhalo::Vec<float, 3>;

// [functor]
/// What we want to know of each particle's surroundings.
struct Flow {
  double density;  // mass per volume within the furthest of the neighbours
  double infall;   // mean speed of the neighbours towards the particle
};

/// Sees one particle's neighbours, and two columns of the particles at them. Runs on the host or on
/// a device.
struct MeasureFlow {
  ZHALO_HD Flow operator()(const zhalo::Neighbours<float>& near,
                           const zhalo::NeighbourColumn<float>& mass,
                           const zhalo::NeighbourColumn<Velocity>& velocity) const {
    double total = 0;
    double inward = 0;
    for (Index i = 0; i < near.size(); ++i) {
      total += static_cast<double>(mass[i]);
      if (near.distance(i) == 0) continue;  // the particle itself
      const zhalo::Vec3d towards = near.separation(i);
      for (int axis = 0; axis < 3; ++axis) {
        const auto relative = static_cast<double>(velocity[i][axis] - velocity.of_query()[axis]);
        inward -= relative * towards[axis] / near.distance(i);
      }
    }
    const double radius = near.distance(near.size() - 1);
    return {total / (4.18879 * radius * radius * radius),
            inward / static_cast<double>(near.size() - 1)};
  }
};
// [functor]

struct Sphere {
  std::vector<float> pos;
  std::vector<float> mass;
  std::vector<Velocity> velocity;
};

/// This rank's share of a uniform sphere that falls together: v = -x about the centre of a unit
/// box.
Sphere make_sphere(Index num, const zhalo::Share& share) {
  std::mt19937_64 random(1);
  const auto uniform = [&] {
    return static_cast<float>(static_cast<double>(random() >> 40) / (1 << 24));
  };
  Sphere sphere;
  for (Index i = 0; i < num;) {
    const float x[3] = {uniform() - 0.5F, uniform() - 0.5F, uniform() - 0.5F};
    if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 0.25F) continue;
    const bool own = i >= share.first && i < share.first + share.count;
    ++i;
    if (!own) continue;
    for (const float coordinate : x) sphere.pos.push_back(coordinate + 0.5F);
    sphere.mass.push_back(1);
    sphere.velocity.push_back({{-x[0], -x[1], -x[2]}});
  }
  return sphere;
}

// [reduce]
/// One Flow for each particle of this rank, in its order. Collective; no list of neighbours is kept
/// or sent.
std::vector<Flow> measure(const zhalo::Context& context, const Sphere& sphere) {
  // Where the Exec is a device, the columns have to be there; on the host the caller's memory could
  // be named as it is.
  const auto pos = to_exec(context.exec, zhalo::Span<const float>(sphere.pos), "positions");
  const auto mass = to_exec(context.exec, zhalo::Span<const float>(sphere.mass), "masses");
  const auto velocity =
      to_exec(context.exec, zhalo::Span<const Velocity>(sphere.velocity), "velocities");
  const auto num = static_cast<Index>(sphere.mass.size());
  const zhalo::Particles<float> particles{
      .segments = {zhalo::ParticleSegment<float>::interleaved(pos.data(), num)}};
  const zhalo::Buffer<Flow> flow =
      zhalo::knn_reduce(context, particles, zhalo::Box::unbounded(), {.k = 32},
                        zhalo::reduction(MeasureFlow{}, zhalo::ParticleColumn("mass", mass.span()),
                                         zhalo::ParticleColumn("velocity", velocity.span())));
  return to_host(context.exec, flow);
}
// [reduce]

void run(Index num) {
  zhalo::Context context{.comm = zhalo::Communicator(MPI_COMM_WORLD)};
  const zhalo::Communicator& comm = context.comm;
  constexpr auto processor =
      zhalo::functors_run_on_devices ? zhalo::Processor::automatic : zhalo::Processor::host;
  context.exec = choose_exec(comm, {.processor = processor});
  const Sphere sphere = make_sphere(num, zhalo::share_of(num, comm.rank(), comm.size()));
  double density = 0;
  double infall = 0;
  for (const Flow& flow : measure(context, sphere)) {
    density += flow.density;
    infall += flow.infall;
  }
  density = comm.sum(density) / static_cast<double>(num);
  infall = comm.sum(infall) / static_cast<double>(num);
  // v = -x: what is at distance r comes nearer with speed r.
  if (comm.rank() == 0) std::printf("mean density %.4g, mean infall %.4g\n", density, infall);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const Index num = argc > 1 ? std::atoll(argv[1]) : 20000;
    run(num);
  } catch (const zhalo::Error& error) {
    std::fprintf(stderr, "local_flow: %s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
