// Groups on CUDA.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/reduce.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/catalogue/group_sums.hpp"
#include "kernels/common/catalogue/groups.hpp"
