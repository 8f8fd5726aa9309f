#include "tests/device/nccl/channel.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "tests/device/runtime/report.hpp"

namespace zhalo::nccl_stand_in {
namespace {

constexpr std::size_t rings_begin = 4096;
static_assert(sizeof(Header) <= rings_begin);

}  // namespace

std::size_t Channel::bytes() const {
  return rings_begin +
         sizeof(Ring) * static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
}

Channel::Channel(std::string name, int rank, int size, int device)
    : name_(std::move(name)), rank_(rank), size_(size) {
  if (size > max_ranks) emulated::stop("the stand-in of NCCL is for up to 64 ranks");
  const int file = shm_open(name_.c_str(), O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes())) != 0)
    emulated::stop("the stand-in of NCCL has no shared memory");
  void* const memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) emulated::stop("the stand-in of NCCL has no shared memory");
  header_ = static_cast<Header*>(memory);
  rings_ = reinterpret_cast<Ring*>(static_cast<char*>(memory) + rings_begin);
  header_->device_of[rank].store(1 + device);
  if (header_->num_attached.fetch_add(1) + 1 == size_) shm_unlink(name_.c_str());
}

/// A communicator that was never complete still has its name.
Channel::~Channel() {
  if (!is_complete()) shm_unlink(name_.c_str());
  munmap(header_, bytes());
}

bool Channel::shares_device() const {
  for (int r = 0; r < size_; ++r)
    for (int q = 0; q < r; ++q)
      if (header_->device_of[r].load() == header_->device_of[q].load()) return true;
  return false;
}

}  // namespace zhalo::nccl_stand_in
