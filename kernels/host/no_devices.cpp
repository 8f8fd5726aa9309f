// Memory and devices in a build without CUDA: there are none.
#include "kernels/memory.hpp"
#include "kernels/nccl.hpp"
#include "kernels/on.hpp"

namespace zhalo::kernels {

namespace {

[[noreturn]] void refuse() { throw DeviceError(no_cuda); }

}  // namespace

void wait(const Cuda&) noexcept {}
void synchronise(const Cuda&) { refuse(); }
MemoryPool::Source device_memory(int) { refuse(); }
MemoryPool::Source pinned_memory(int) { refuse(); }
MemoryOwner owner_of(const Cuda&, const void*) { refuse(); }
void connect_devices(const std::vector<int>&) {}
DeviceInUse::DeviceInUse(const Exec&) {}
DeviceReport query_devices() { return {false, 0, "", no_cuda}; }
void select_device(int) { refuse(); }
std::string device_name(int) { refuse(); }
std::string why_no_nccl() { return no_cuda; }
std::string nccl_name() { refuse(); }
NcclLink::Id make_nccl_id() { refuse(); }
std::unique_ptr<NcclLink> make_nccl_link(const Cuda&, const NcclLink::Id&, const NcclPlace&) {
  refuse();
}
DeviceId device_id(int) { refuse(); }

}  // namespace zhalo::kernels
