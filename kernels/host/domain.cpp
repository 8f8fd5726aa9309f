#include "kernels/host/parallel.hpp"
#include "kernels/kernels.hpp"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/balance.hpp"
#include "kernels/common/fof_labels.hpp"
#include "kernels/common/ghosts.hpp"
#include "kernels/common/group_sums.hpp"
#include "kernels/common/groups.hpp"
#include "kernels/common/particles.hpp"
#include "kernels/common/runs.hpp"
#include "kernels/common/tree.hpp"

#define ZHALO_EXEC Host
#include "kernels/common/instantiate.inl.hpp"
