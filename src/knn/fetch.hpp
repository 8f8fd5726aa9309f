/// Particles of other ranks that queries of this rank may have as neighbours.
#pragma once

#include <memory>
#include <vector>

#include "src/knn/chunks.hpp"
#include "src/knn/search_input.hpp"
#include "src/tree/coarse_boxes.hpp"
#include "src/tree/tree.hpp"

namespace zhalo {

/// What came, in the order of ranks, and of the Z-order on each.
template <class Real>
struct FetchedParticles {
  Buffer<Real> pos[3];
  Buffer<Index> global_index;
  std::vector<Buffer<std::byte>> columns;
  std::unique_ptr<Tree<Real>> tree;  ///< none if nothing came

  Index num() const { return global_index.size(); }
};

using kernels::Ball;

/// Asks the other ranks for the leaves that balls touch.
template <class Real>
class Fetcher {
 public:
  /// `search.tree` is the tree of this rank's particles. Collective.
  Fetcher(const Context& context, DistributedParticles<Real>& particles,
          const kernels::SearchView<Real>& search, const std::vector<ColumnView>& columns);

  /// A distance, squared, within which at least so many particles of all ranks lie of any place in
  /// the box; infinite if there are fewer.
  Real reach_of(const Ball<Real>& box, Index num) const;
  /// Collective.
  FetchedParticles<Real> fetch(const std::vector<Ball<Real>>& balls, int leaf_size) const;

 private:
  std::vector<std::vector<Ball<Real>>> requests_of(const std::vector<Ball<Real>>& balls) const;
  Buffer<LocalIndex> select(const std::vector<Ball<Real>>& balls, const ExchangePlan& plan,
                            std::vector<Index>& counts) const;

  const Context& context_;
  DistributedParticles<Real>& particles_;
  kernels::SearchView<Real> search_;
  std::vector<ColumnView> columns_;
  std::vector<CoarseBoxes> boxes_;  ///< of each rank
  ReachedBoxes reached_;            ///< the period; the reach is each ball's
};

/// Boxes of the leaves of a chunk, which reach as far as their rows say: to the last neighbour, or
/// as far as may be if a row is not full.
template <class Real>
std::vector<Ball<Real>> balls_of(const Exec& exec, const kernels::SearchView<Real>& search,
                                 const Chunk& chunk, const kernels::BestRows<Real>& rows);

}  // namespace zhalo
