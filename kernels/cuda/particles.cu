// Particles and elements of columns on CUDA.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/positions.cuh"
#include "kernels/cuda/reduce.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/particles/columns.hpp"
#include "kernels/common/particles/elements.hpp"
#include "kernels/common/particles/positions.hpp"
