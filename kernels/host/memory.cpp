#include <cstring>

#include "kernels/kernels.hpp"

namespace zhalo::kernels {

void copy_bytes(const Host&, void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace zhalo::kernels
