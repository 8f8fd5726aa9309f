#include "kernels/cuda/reduce.cuh"

#define ZHALO_EXEC Cuda
#include "tests/parity/loops.inl.hpp"
