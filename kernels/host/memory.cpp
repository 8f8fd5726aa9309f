// Copies on the host, and how functors of the user's run there.
#include "kernels/memory.hpp"

#include <cstring>
#include <memory>

#include "kernels/copies.hpp"
#include "kernels/host/parallel.hpp"

namespace zhalo::kernels {

namespace {

class CopiesAtOnce final : public CopyQueue {
 public:
  void follow() override {}
  Index begin(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
    return num_begun_++;
  }
  bool is_done(Index number) override { return number < num_begun_; }

 private:
  Index num_begun_ = 0;
};

}  // namespace

std::unique_ptr<CopyQueue> make_copy_queue(const Host&, int) {
  return std::make_unique<CopiesAtOnce>();
}

void copy_bytes(const Host&, void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void copy_from_any_device(const Host& exec, void* to, const void* from, std::size_t bytes) {
  copy_bytes(exec, to, from, bytes);
}

void queue_copy(const Host& exec, void* to, const void* from, std::size_t bytes) {
  copy_bytes(exec, to, from, bytes);
}

void run_blocks(const Host& exec, Index num, Index block, const RangeFunction& function) {
  for_each_block(exec, num, block,
                 [&](Index first, Index last) { function.call(function.object, first, last); });
}

}  // namespace zhalo::kernels
