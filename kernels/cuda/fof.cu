// Friends of friends on CUDA; links by a warp for each leaf or node.
#define ZHALO_BACKEND Cuda

#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/fof/ghosts.hpp"
#include "kernels/common/fof/labels.hpp"
// After the lanes.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/fof/link.inl.hpp"
// After links.
#include "kernels/cuda/link_inside.cuh"

#include "kernels/common/fof/leaf_pair.inl.hpp"
#include "kernels/common/fof/walk.inl.hpp"
