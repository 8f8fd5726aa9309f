// Particles on grids, index boxes on CUDA.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/reduce.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/mesh/index_boxes.hpp"
#include "kernels/common/mesh/paint.hpp"
#include "kernels/common/mesh/weights.hpp"
