#include "kernels/cuda/launch.cuh"
#include "kernels/kernels.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/modes.hpp"

#define ZHALO_EXEC Cuda
#define ZHALO_REAL float
#include "kernels/common/instantiate_modes.inl.hpp"
#define ZHALO_REAL double
#include "kernels/common/instantiate_modes.inl.hpp"
