#include "kernels/host/parallel.hpp"
#include "kernels/kernels.hpp"

namespace zhalo::kernels {

void run_blocks(const Host& exec, Index num, Index block, const RangeFunction& function) {
  for_each_block(exec, num, block,
                 [&](Index first, Index last) { function.call(function.object, first, last); });
}

}  // namespace zhalo::kernels
