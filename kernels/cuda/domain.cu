#include "kernels/cuda/reduce.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/balance.hpp"
#include "kernels/common/fof_labels.hpp"
#include "kernels/common/ghosts.hpp"
#include "kernels/common/group_sums.hpp"
#include "kernels/common/groups.hpp"
#include "kernels/common/particles.hpp"
#include "kernels/common/runs.hpp"
#include "kernels/common/tree.hpp"

#define ZHALO_EXEC Cuda
#include "kernels/common/instantiate.inl.hpp"

namespace zhalo::kernels {

template PositionSummary summarize_positions(const Cuda&, const ParticlesView<float>&, const Box&);
template PositionSummary summarize_positions(const Cuda&, const ParticlesView<double>&, const Box&);

}  // namespace zhalo::kernels
