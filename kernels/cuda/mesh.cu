// Particles on grids, index boxes on CUDA.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
#include "kernels/mesh.hpp"

namespace zhalo::kernels {

// The common text's way is that of one particle after the other.
ZHALO_SPECIALIZE_REALS(deposit);

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/mesh/index_boxes.hpp"
#include "kernels/common/mesh/paint.hpp"
#include "kernels/common/mesh/weights.hpp"
// After the texts that it specializes.
#include "kernels/cuda/deposit.cuh"
