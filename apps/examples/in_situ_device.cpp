/// in_situ_device [BODIES [STEPS]]: the simulation of in_situ with its bodies in memory of a GPU
/// (docs/in-situ.md). Each rank has a device of its own, or shares one.

#include <cuda_runtime_api.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
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

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// The bodies as a code on GPUs has them: in memory that it allocated itself, written by work on a
/// stream of its own. Here that work is a copy of what the toy simulation has on the host.
class DeviceBodies {
 public:
  explicit DeviceBodies(std::size_t room) {
    check(cudaMalloc(reinterpret_cast<void**>(&bodies_), (room + 1) * sizeof(Body)));
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&written_, cudaEventDisableTiming));
  }
  ~DeviceBodies() {
    cudaEventDestroy(written_);
    cudaStreamDestroy(stream_);
    cudaFree(bodies_);
  }
  DeviceBodies(const DeviceBodies&) = delete;
  DeviceBodies& operator=(const DeviceBodies&) = delete;

  void write(const std::vector<Body>& dark, const std::vector<Body>& stars) {
    num_ = 0;
    for (const auto* bodies : {&dark, &stars}) {
      check(cudaMemcpyAsync(bodies_ + num_, bodies->data(), bodies->size() * sizeof(Body),
                            cudaMemcpyHostToDevice, stream_));
      num_ += bodies->size();
    }
    check(cudaEventRecord(written_, stream_));
  }

  const Body* data() const { return bodies_; }
  std::size_t num() const { return num_; }
  cudaEvent_t written() const { return written_; }

 private:
  Body* bodies_ = nullptr;
  std::size_t num_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t written_ = nullptr;
};

// [device_context]
/// zhalo queues its work on a stream of the caller's.
zhalo::Context make_context(MPI_Comm comm, int device, cudaStream_t stream) {
  zhalo::Context context{.comm = zhalo::Communicator(comm)};
  context.exec = zhalo::cuda_exec(device, stream);
  context.comm.choose_transport(context.exec);  // how messages leave the device
  return context;
}
// [device_context]

// [device_view]
/// The bodies where they are, in memory of the device. Addresses are not looked into here.
zhalo::Particles<double> view(const DeviceBodies& bodies) {
  zhalo::ParticleSegment<double> segment;
  const Body* first = bodies.data();
  segment.num = static_cast<zhalo::Index>(bodies.num());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    segment.pos[axis] = {&first->position[axis], sizeof(Body)};
    segment.velocity[axis] = {&first->velocity[axis], sizeof(Body)};
  }
  segment.mass = {&first->mass, sizeof(Body)};
  segment.type = {&first->species, sizeof(Body)};
  return {.segments = {segment}};
}
// [device_view]

// [device_search]
zhalo::Catalogue find_haloes(const zhalo::Context& context, cudaStream_t stream,
                             const DeviceBodies& bodies, double length) {
  // The stream waits for the bodies; the host does not.
  check(cudaStreamWaitEvent(stream, bodies.written()));
  const auto box = zhalo::Box::periodic_cube(Simulation::box_length);
  const zhalo::Domain<double> domain(context, view(bodies), box);
  const zhalo::FofResult fof = zhalo::friends_of_friends(domain, {.linking_length = length});
  // The rows are on the host, group_of and members in memory of the device.
  return zhalo::make_catalogue(domain, fof, {.min_members = 20, .num_types = 2});
}
// [device_search]

void report(const zhalo::Context& context, const Simulation& simulation,
            const zhalo::Catalogue& haloes) {
  if (context.comm.rank() != 0) return;
  std::printf("step %d: %ld haloes with %ld bodies", simulation.num_steps(),
              haloes.num_groups_total, haloes.num_members_total);
  if (!haloes.length.empty()) {
    const zhalo::Vec3d& centre = haloes.properties[0].centre;
    std::printf("; the largest: %.0f bodies, mass %.1f, centre %.4f %.4f %.4f",
                static_cast<double>(haloes.length[0]), haloes.properties[0].mass, centre[0],
                centre[1], centre[2]);
  }
  std::printf("\n");
}

void simulate(MPI_Comm comm, std::uint64_t num_bodies, int steps) {
  int rank = 0;
  int num_devices = 0;
  MPI_Comm_rank(comm, &rank);
  check(cudaGetDeviceCount(&num_devices));
  const int device = rank % num_devices;
  check(cudaSetDevice(device));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    Simulation simulation(comm, num_bodies);
    DeviceBodies bodies(num_bodies);
    const zhalo::Context context = make_context(comm, device, stream);
    const double length = 0.2 * Simulation::box_length / std::cbrt(static_cast<double>(num_bodies));
    while (simulation.num_steps() < steps) {
      simulation.step();
      if (simulation.num_steps() % 20 != 0) continue;
      bodies.write(simulation.dark(), simulation.stars());
      report(context, simulation, find_haloes(context, stream, bodies, length));
    }
  }
  check(cudaStreamDestroy(stream));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = EXIT_SUCCESS;
  try {
    simulate(MPI_COMM_WORLD, argc > 1 ? std::stoull(argv[1]) : 20000,
             argc > 2 ? std::stoi(argv[2]) : 100);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in_situ_device: %s\n", error.what());
    status = EXIT_FAILURE;
  }
  if (status != EXIT_SUCCESS) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return status;
}
