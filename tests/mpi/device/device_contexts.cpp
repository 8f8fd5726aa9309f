// A rank starts its own device and no other: each context takes some hundred MiB of a device, which
// those who work on it would lack.
#include <catch2/catch.hpp>

#include "tests/device/runtime/devices.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/core/for_each.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/ics/points.hpp"
#include "zhalo/knn/knn.hpp"
#include "zhalo/mesh/modes.hpp"
#include "zhalo/mesh/paint.hpp"

namespace zhalo {
namespace {

/// A functor of the caller's.
struct FillWithIndex {
  Index* values;

  ZHALO_HD void operator()(Index i) const { values[i] = i; }
};

/// Groups, neighbours, a functor and a transform of a rank's share of the particles.
void use_own_device(int device) {
  Context context;
  context.comm = Communicator(MPI_COMM_WORLD);
  context.exec = cuda_exec(device);
  const Communicator& comm = context.comm;
  const std::vector<float> pos = points::make_points(points::Kind::clustered, 3000,
                                                     static_cast<std::uint64_t>(comm.rank()) + 1)
                                     .pos;
  const Buffer<float> rows = to_exec(context.exec, Span<const float>(pos), "positions");
  Particles<float> particles;
  particles.segments = {ParticleSegment<float>::interleaved(rows.data(), rows.size() / 3, 3)};
  const Box box = Box::periodic_cube(1);
  const FofResult groups = friends_of_friends(context, particles, box, {.linking_length = 0.01});
  CHECK(make_catalogue(context, particles, box, groups.label.span(), CatalogueOptions{})
            .num_groups_total > 0);
  CHECK(knn(context, particles, box, {.k = 4}).num_rows == 3000);
  Buffer<Index> values(context.exec, 2, "indices");
  for_each(context.exec, values.size(), FillWithIndex{values.data()});
  CHECK(to_host(context.exec, values) == std::vector<Index>{0, 1});
  Field<double> field(context, Decomposition(Grid{{{8, 8, 8}}, box}, comm.size()));
  paint(context, particles, field);
  to_modes(context, field);
}

}  // namespace

TEST_CASE("a rank starts its own device and no other") {
  const Communicator comm(MPI_COMM_WORLD);
  const int own = comm.rank() + 1;
  REQUIRE(own < 4);
  CHECK(query_devices().num_devices == 4);
  use_own_device(own);
  for (int device = 0; device < 4; ++device) {
    INFO("device " << device);
    CHECK(emulated::has_started(device) == (device == own));
  }
}

TEST_CASE("a device that the caller has chosen is current again after a call") {
  const Communicator comm(MPI_COMM_WORLD);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  use_own_device(comm.rank() + 1);
  CHECK(emulated::current_device() == 0);
}

}  // namespace zhalo
