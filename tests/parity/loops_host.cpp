#include "kernels/host/parallel.hpp"

#define ZHALO_EXEC Host
#include "tests/parity/loops.inl.hpp"
