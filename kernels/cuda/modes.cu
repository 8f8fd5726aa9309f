// Modes on CUDA.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/launch.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/modes/modes.hpp"
#include "kernels/common/modes/powers.hpp"
#include "kernels/common/modes/random.hpp"
