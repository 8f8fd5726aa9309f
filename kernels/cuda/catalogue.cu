// Groups on CUDA.
#define ZHALO_BACKEND Cuda

#include "kernels/catalogue.hpp"
#include "kernels/cuda/member_sums.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"

namespace zhalo::kernels {

// The common text's way is that of one particle after the other.
ZHALO_SPECIALIZE(count_labels);

}  // namespace zhalo::kernels

// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/catalogue/group_sums.hpp"
#include "kernels/common/catalogue/groups.hpp"
// After the texts that it specializes.
#include "kernels/cuda/label_runs.cuh"
