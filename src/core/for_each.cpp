#include "zhalo/core/for_each.hpp"

#include "kernels/memory.hpp"

namespace zhalo {

void run_blocks(const Host& exec, Index num, Index block, const RangeFunction& function) {
  kernels::run_blocks(exec, num, block, function);
}

}  // namespace zhalo
