// Searches for neighbours on CUDA, by a warp for each leaf of queries.
#define ZHALO_BACKEND Cuda

#include <limits>

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/knn/nodes.hpp"
#include "kernels/common/knn/rows.hpp"
// After the lanes.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/knn/walk.inl.hpp"
// After the walk.
#include "kernels/common/knn/best_list.inl.hpp"
#include "kernels/common/knn/few_rows.inl.hpp"
#include "kernels/common/knn/nearest.inl.hpp"
// After the walk and the rows.
#include "kernels/cuda/select_nearest.cuh"
// After nearest.
#include "kernels/common/knn/few_nearest.inl.hpp"
