#include "kernels/host/parallel.hpp"
#include "kernels/kernels.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/index_boxes.hpp"

#define ZHALO_EXEC Host
#include "kernels/common/instantiate_index_boxes.inl.hpp"
