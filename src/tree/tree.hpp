/// The flat level hierarchy over sorted particles (kernels::TreeView), and who owns its memory.
#pragma once

#include <memory>

#include "src/domain/domain_state.hpp"

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
  Tree(const Context& context, SortedParticles<Real>& particles, const TreeOptions& options);
  /// Over particles that are in some order already: leaves of equal size, whatever their extent.
  Tree(const Context& context, const kernels::SortedPositions<Real>& pos, int leaf_size);
  const kernels::TreeView<Real>& view() const { return view_; }

 private:
  void make_leaves(const Exec& exec, const SortedParticles<Real>& particles,
                   const TreeOptions& options);
  void allocate_leaves(const Exec& exec, Index num_leaves);
  void make_levels(const Exec& exec);

  Buffer<LocalIndex> leaf_begin_;
  Buffer<LocalIndex> leaf_end_;
  Buffer<Real> lo_[3];
  Buffer<Real> hi_[3];
  kernels::TreeView<Real> view_;
};

/// The tree of a species of a domain: made when it is first needed, and kept in a domain that is
/// shared. Else the keys are freed: nobody will ask again.
template <class Real>
std::shared_ptr<const Tree<Real>> tree_of(DomainState<Real>& domain, int species,
                                          const TreeOptions& options);

}  // namespace zhalo
