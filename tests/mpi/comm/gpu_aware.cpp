/// An MPI that says that it takes addresses of devices: one that does, and others that do not.
/// MPI's calls are stood in for; the devices are emulated.
#include "tests/mpi/device/device_groups.hpp"
#include "tests/mpi/device/device_mpi.hpp"

extern "C" int MPIX_Query_cuda_support(void) { return 1; }

namespace {

using namespace zhalo;
using namespace zhalo::testing;

/// Returns the memory of the device.
std::shared_ptr<MemoryPool> check_transport(DeviceMpi kind, bool is_aware,
                                            double timeout_seconds = 60) {
  device_mpi = kind;
  Context context;
  REQUIRE(find_device(context, {.timeout_seconds = timeout_seconds}));
  CHECK(context.comm.is_gpu_aware());  // so it says
  check_groups(context);
  const bool has_messages = context.comm.size() > 1;
  CHECK(context.comm.is_gpu_aware() == (is_aware || !has_messages));
  if (!has_messages) return memory(context.exec);
  CHECK((calls_with_device > 0));
  const int before = calls_with_device;
  check_groups(context);
  CHECK((calls_with_device > before) == is_aware);
  return memory(context.exec);
}

}  // namespace

TEST_CASE("messages of devices by an MPI that takes their addresses") {
  check_transport(DeviceMpi::is_right, true);
}

TEST_CASE("an MPI that takes addresses of devices, but moves nothing, is found out") {
  check_transport(DeviceMpi::is_wrong, false);
}

TEST_CASE(
    "an MPI that says that it takes addresses of devices, and then refuses them, is found out") {
  check_transport(DeviceMpi::fails, false);
}

TEST_CASE(
    "an MPI that refuses addresses of devices on one rank is found out, though others wait for its "
    "message") {
  const Communicator world(MPI_COMM_WORLD);
  check_transport(world.rank() == 1 ? DeviceMpi::fails : DeviceMpi::is_right, false, 5);
}

TEST_CASE("an MPI whose messages of devices neither arrive nor can be cancelled is found out") {
  const std::shared_ptr<MemoryPool> pool = check_transport(DeviceMpi::hangs, false, 5);
  REQUIRE(addresses_of_abandoned.size() == 1);
  // It is kept as long as the process lives. The emulated device wants all back before that.
  CHECK(pool->bytes_in_use() > 0);
  pool->deallocate(static_cast<Index*>(addresses_of_abandoned.front()) - 1);
  CHECK(pool->bytes_in_use() == 0);
  pool->release();
}
