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
#include "kernels/host/position_summary.hpp"

#define ZHALO_EXEC Host
#include "kernels/common/instantiate.inl.hpp"

namespace zhalo::kernels {

// In place of the common text's, which is for devices.
template <>
PositionSummary summarize_positions(const Host& exec, const ParticlesView<float>& particles,
                                    const Box& box) {
  return summarize_blocks(exec, particles, box);
}
template <>
PositionSummary summarize_positions(const Host& exec, const ParticlesView<double>& particles,
                                    const Box& box) {
  return summarize_blocks(exec, particles, box);
}

}  // namespace zhalo::kernels
