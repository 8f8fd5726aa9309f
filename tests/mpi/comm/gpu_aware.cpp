/// An MPI that says that it takes addresses of devices: one that does, and others that do not.
/// MPI's calls are stood in for; the devices are emulated.
#include <mpi.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/device/runtime/memory.hpp"
#include "tests/mpi/device/find_device.hpp"
#include "tests/support/over_ranks.hpp"
#include "tests/support/point_sets.hpp"
#include "zhalo/fof/fof.hpp"

namespace {

enum class Mpi { is_right, is_wrong, fails };

struct Received {
  std::vector<char> bytes;
  void* to = nullptr;
  int device = 0;
};

// What the calls below share.
Mpi mpi = Mpi::is_right;
int calls_with_device = 0;
std::map<MPI_Request, Received> received;
std::vector<std::vector<char>> sent;

void copy_of_device(void* to, const void* from, int num, int device) {
  const zhalo::emulated::AccessScope scope(device);
  std::copy_n(static_cast<const char*>(from), num, static_cast<char*>(to));
}

}  // namespace

extern "C" int MPIX_Query_cuda_support(void) { return 1; }

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  const int device = zhalo::emulated::device_of(data);
  if (device < 0) return PMPI_Isend(data, count, type, to, tag, comm, request);
  ++calls_with_device;
  if (mpi == Mpi::fails) return MPI_ERR_BUFFER;
  int size = 0;
  PMPI_Type_size(type, &size);
  sent.emplace_back(static_cast<std::size_t>(count * size));
  copy_of_device(sent.back().data(), data, count * size, device);
  return PMPI_Isend(sent.back().data(), count, type, to, tag, comm, request);
}

extern "C" int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  const int device = zhalo::emulated::device_of(data);
  if (device < 0) return PMPI_Irecv(data, count, type, from, tag, comm, request);
  ++calls_with_device;
  if (mpi == Mpi::fails) return MPI_ERR_BUFFER;
  int size = 0;
  PMPI_Type_size(type, &size);
  Received one{std::vector<char>(static_cast<std::size_t>(count * size)), data, device};
  char* const room = one.bytes.data();
  const int status = PMPI_Irecv(room, count, type, from, tag, comm, request);
  received[*request] = std::move(one);
  return status;
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = PMPI_Test(request, done, status);
  const auto found = received.find(before);
  if (*done == 0 || found == received.end()) return code;
  const Received one = std::move(found->second);
  received.erase(found);
  if (mpi != Mpi::is_right) return code;  // it never arrives
  const zhalo::emulated::AccessScope scope(one.device);
  std::copy(one.bytes.begin(), one.bytes.end(), static_cast<char*>(one.to));
  return code;
}

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// Groups of a points, of which each rank has a part on its device.
void check_groups(const Context& context) {
  PointSet<float> points{{}, Box::periodic_cube(1), 0.05};
  Random random(5);
  fill(points, random, Shape::blobs, 400);
  const Share part = part_of(points.num(), Cut::uneven, context.comm.rank(), context.comm.size());
  const Buffer<float> rows = upload(context.exec, rows_of(points, part));
  Particles<float> particles;
  particles.segments = {ParticleSegment<float>::interleaved(rows.data(), rows.size() / 3, 3)};
  const FofResult found =
      friends_of_friends(context, particles, points.box, {.linking_length = points.linking_length});
  CHECK(to_host(context.exec, found.label) == slice(labels_of_one_rank(points), part));
}

void check_transport(Mpi kind, bool is_aware, double timeout_seconds = 60) {
  mpi = kind;
  Context context;
  REQUIRE(find_device(context, {.timeout_seconds = timeout_seconds}));
  CHECK(context.comm.is_gpu_aware());  // so it says
  check_groups(context);
  const bool has_messages = context.comm.size() > 1;
  CHECK(context.comm.is_gpu_aware() == (is_aware || !has_messages));
  if (!has_messages) return;
  CHECK((calls_with_device > 0));
  const int before = calls_with_device;
  check_groups(context);
  CHECK((calls_with_device > before) == is_aware);
}

}  // namespace

TEST_CASE("messages of devices by an MPI that takes their addresses") {
  check_transport(Mpi::is_right, true);
}

TEST_CASE("an MPI that takes addresses of devices, but moves nothing, is found out") {
  check_transport(Mpi::is_wrong, false);
}

TEST_CASE(
    "an MPI that says that it takes addresses of devices, and then refuses them, is found out") {
  check_transport(Mpi::fails, false);
}

TEST_CASE(
    "an MPI that refuses addresses of devices on one rank is found out, though others wait for its "
    "message") {
  const Communicator world(MPI_COMM_WORLD);
  check_transport(world.rank() == 1 ? Mpi::fails : Mpi::is_right, false, 5);
}
