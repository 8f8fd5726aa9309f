#include "zhalo/core/buffer.hpp"

#include "kernels/memory.hpp"
#include "kernels/on.hpp"

namespace zhalo {

void copy_bytes(const Exec& exec, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  kernels::on(exec, [&](const auto& e) { kernels::copy_bytes(e, to, from, bytes); });
}

}  // namespace zhalo
