/// What each rank tells all others about where its particles are.
#pragma once

#include <array>
#include <vector>

#include "kernels/tree.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo {

struct ReachedBoxes {
  double period[3] = {};  ///< infinite where not periodic
  double reach2 = 0;
};

/// Whether two boxes come within reach of each other.
bool is_within(const kernels::CoarseBox& a, const kernels::CoarseBox& b, const ReachedBoxes& reach);

/// Boxes that together hold all particles of a rank; none for an empty rank.
struct CoarseBoxes {
  int num = 0;
  std::array<kernels::CoarseBox, kernels::max_coarse_boxes> box;
  std::array<Index, kernels::max_coarse_boxes> count;  ///< particles in each

  Span<const kernels::CoarseBox> span() const { return {box.data(), num}; }
  kernels::CoarseBox around_all() const;
  /// Those within reach of any of the others.
  CoarseBoxes near(const CoarseBoxes& others, const ReachedBoxes& reach) const;
};

/// From the nodes of the tree: the largest ones are replaced by their children until there are some
/// hundred, then neighbours in Z-order are joined where that costs least.
template <class Real>
CoarseBoxes coarse_boxes(const Exec& exec, const kernels::TreeView<Real>& tree);

/// A rank, and those of its boxes that are within reach.
struct Neighbour {
  int rank = 0;
  CoarseBoxes boxes;
};
/// Higher ranks with boxes within reach of this rank's, in their order. Collective.
std::vector<Neighbour> higher_neighbours(const Communicator& comm, const CoarseBoxes& own,
                                         const ReachedBoxes& reach);

}  // namespace zhalo
