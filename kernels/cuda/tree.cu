// Trees on CUDA; boxes by a warp for each.
#define ZHALO_BACKEND Cuda

#include <limits>

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
#include "kernels/tree.hpp"

namespace zhalo::kernels {

// The common text's way is for hosts.
ZHALO_SPECIALIZE(cut_tree);

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/tree/leaves.hpp"
// After the text that it specializes.
#include "kernels/cuda/cells.cuh"
// After the lanes.
#include "kernels/common/tree/boxes.inl.hpp"
