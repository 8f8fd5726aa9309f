/// in_situ [BODIES [STEPS]]: a simulation that looks for its haloes while it runs
/// (docs/in-situ.md).

#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/examples/simulation.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/fof/fof.hpp"

namespace {

using toy::Body;
using toy::Simulation;

// [context]
/// Collective over the communicator of the simulation, which stays its own: zhalo talks on a
/// duplicate.
zhalo::Context make_context(MPI_Comm comm) {
  zhalo::CommunicatorOptions options;
  options.timeout_seconds = 600;  // no search of ours takes that long: then a rank is lost
  zhalo::Context context{.comm = zhalo::Communicator(comm, options)};
  // The bodies lie in host memory, so the search runs there: each rank on its share of the
  // machine's cores, or on OMP_NUM_THREADS.
  context.exec = zhalo::choose_exec(context.comm, {.processor = zhalo::Processor::host});
  return context;
}
// [context]

// [view]
/// The bodies where they are: zhalo is told the address of each member in the first struct, and the
/// distance to the next one.
zhalo::ParticleSegment<double> view(const std::vector<Body>& bodies) {
  zhalo::ParticleSegment<double> segment;
  if (bodies.empty()) return segment;
  const Body& first = bodies.front();
  segment.num = static_cast<zhalo::Index>(bodies.size());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    segment.pos[axis] = {&first.position[axis], sizeof(Body)};
    segment.velocity[axis] = {&first.velocity[axis], sizeof(Body)};
  }
  segment.mass = {&first.mass, sizeof(Body)};
  segment.type = {&first.species, sizeof(Body)};
  return segment;
}
// [view]

// [search]
/// Friends-of-friends groups of 20 bodies or more with this linking length. Collective.
zhalo::Catalogue find_haloes(const zhalo::Context& context, Simulation& simulation, double length) {
  const zhalo::Particles<double> particles{
      .segments = {view(simulation.dark()), view(simulation.stars())}};
  const auto box = zhalo::Box::periodic_cube(Simulation::box_length);
  const zhalo::Domain<double> domain(context, particles, box);
  const zhalo::FofResult fof = zhalo::friends_of_friends(domain, {.linking_length = length});
  zhalo::Catalogue haloes = zhalo::make_catalogue(domain, fof, {.min_members = 20, .num_types = 2});

  // One number per body, in the order in which the bodies were given: first the dark ones, then the
  // stars.
  const zhalo::Buffer<zhalo::Index> halo_of = domain.to_caller_order(haloes.group_of);
  const auto* halo = halo_of.data();
  for (Body& body : simulation.dark()) body.halo = *halo++;
  for (Body& body : simulation.stars()) body.halo = *halo++;
  return haloes;
}
// [search]

// [largest]
/// Rows are in one order over all ranks, the largest first; this rank holds those from first_group
/// on.
struct Halo {
  double members = 0;
  double mass = 0;
  zhalo::Vec3d centre;
};

Halo largest_of(const zhalo::Catalogue& haloes, MPI_Comm comm) {
  Halo halo;
  if (haloes.first_group == 0 && !haloes.length.empty()) {
    halo = {static_cast<double>(haloes.length[0]), haloes.properties[0].mass,
            haloes.properties[0].centre};
  }
  // Only the rank with row 0 has something to add.
  MPI_Allreduce(MPI_IN_PLACE, &halo, sizeof(Halo) / sizeof(double), MPI_DOUBLE, MPI_SUM, comm);
  return halo;
}
// [largest]

/// What the tags of the simulation's own bodies say about halo 0: it must be what the catalogue
/// says.
double tagged_mass(const Simulation& simulation, MPI_Comm comm) {
  double mass = 0;
  for (const auto* bodies : {&simulation.dark(), &simulation.stars()}) {
    for (const Body& body : *bodies) mass += body.halo == 0 ? static_cast<double>(body.mass) : 0.0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &mass, 1, MPI_DOUBLE, MPI_SUM, comm);
  return mass;
}

void report(const zhalo::Context& context, const Simulation& simulation,
            const zhalo::Catalogue& haloes, const Halo& largest) {
  if (context.comm.rank() != 0) return;
  std::printf("step %d: %ld haloes with %ld bodies", simulation.num_steps(),
              haloes.num_groups_total, haloes.num_members_total);
  if (haloes.num_groups_total > 0) {
    std::printf("; the largest: %.0f bodies, mass %.1f, centre %.4f %.4f %.4f", largest.members,
                largest.mass, largest.centre[0], largest.centre[1], largest.centre[2]);
  }
  std::printf("\n");
  std::fflush(stdout);
}

// [loop]
int simulate(MPI_Comm comm, std::uint64_t num_bodies, int steps) {
  Simulation simulation(comm, num_bodies);
  const zhalo::Context context = make_context(comm);  // once: it keeps its memory for the next call
  const double length = 0.2 * Simulation::box_length / std::cbrt(static_cast<double>(num_bodies));
  while (simulation.num_steps() < steps) {
    simulation.step();
    if (simulation.num_steps() % 20 != 0) continue;
    zhalo::memory(context.exec)->reset_peak();
    const zhalo::Catalogue haloes = find_haloes(context, simulation, length);
    const Halo largest = largest_of(haloes, comm);
    report(context, simulation, haloes, largest);
    if (std::abs(tagged_mass(simulation, comm) - largest.mass) > 1e-9 * largest.mass)
      return EXIT_FAILURE;
    const auto peak =
        context.comm.max(static_cast<zhalo::Index>(zhalo::memory(context.exec)->peak_bytes()));
    if (context.comm.rank() == 0) std::printf("work memory of one rank: at most %ld bytes\n", peak);
  }
  return EXIT_SUCCESS;
}
// [loop]

}  // namespace

// [errors]
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::uint64_t num_bodies = argc > 1 ? std::stoull(argv[1]) : 20000;
  const int steps = argc > 2 ? std::stoi(argv[2]) : 100;
  int status = EXIT_FAILURE;
  try {
    status = simulate(MPI_COMM_WORLD, num_bodies, steps);
  } catch (const zhalo::CommunicationError& error) {
    std::fprintf(stderr, "%s\n",
                 error.what());  // ranks are lost: nothing that waits for them can end
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  } catch (const zhalo::Error& error) {
    int rank = 0;  // the same error on all ranks: they may go on without haloes, or end together
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
// [errors]
