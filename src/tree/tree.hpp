/// The tree over sorted particles (kernels::TreeView), and the coarse boxes that ranks publish.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kernels/tree.hpp"
#include "src/domain/domain_state.hpp"
#include "zhalo/comm/context.hpp"

namespace zhalo {

struct TreeOptions {
  int leaf_size = 32;
  /// Cells of equal keys are one leaf of any size.
  bool equal_keys_stay = false;
};

template <class Real>
class Tree {
 public:
  /// Builds over the particles, which must outlive the tree; their keys are not needed afterwards.
  Tree(const Context& context, SortedColumns<Real>& particles, const TreeOptions& options);
  /// Over particles that are in some order already: leaves of equal size, whatever their extent.
  Tree(const Context& context, const kernels::SortedPositions<Real>& pos, int leaf_size);
  const kernels::TreeView<Real>& view() const { return view_; }

 private:
  void make_leaves(const Exec& exec, const SortedColumns<Real>& particles,
                   const TreeOptions& options);
  void allocate_leaves(const Exec& exec, Index num_leaves);
  void make_levels(const Exec& exec);

  Buffer<LocalIndex> leaf_begin_;
  Buffer<LocalIndex> leaf_end_;
  Buffer<Real> lo_[3];
  Buffer<Real> hi_[3];
  kernels::TreeView<Real> view_;
};

/// The tree of a species of a domain: made when it is first needed, and kept. The keys are freed.
template <class Real>
std::shared_ptr<const Tree<Real>> tree_of(DomainState<Real>& domain, int species,
                                          const TreeOptions& options);

struct ReachedBoxes {
  double period[3] = {};  ///< infinite where not periodic
  double reach2 = 0;
};

/// Around two boxes.
kernels::CoarseBox around(const kernels::CoarseBox& a, const kernels::CoarseBox& b);

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
/// Other ranks with boxes within reach of this rank's, in their order. Collective.
std::vector<Neighbour> neighbours_within(const Communicator& comm, const CoarseBoxes& own,
                                         const ReachedBoxes& reach);

}  // namespace zhalo
