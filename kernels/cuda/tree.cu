// Trees on CUDA; boxes by a warp for each.
#define ZHALO_BACKEND Cuda

#include <limits>

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/tree/leaves.hpp"
// After the lanes.
#include "kernels/common/tree/boxes.inl.hpp"
