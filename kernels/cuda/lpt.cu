#include "kernels/cuda/launch.cuh"
#include "kernels/kernels.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/lpt.hpp"

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate_lpt.inl.hpp"
