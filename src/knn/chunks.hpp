/// Queries taken some leaves at a time, and the memory of their lists.
#pragma once

#include <vector>

#include "kernels/tree.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// Leaves [first_leaf, first_leaf + num_leaves) and their queries.
struct Chunk {
  Index first_leaf = 0;
  Index num_leaves = 0;
  Index first_query = 0;
  Index num_queries = 0;
};

/// Cuts the leaves of a tree into chunks.
class Chunks {
 public:
  template <class Real>
  Chunks(const Exec& exec, const kernels::TreeView<Real>& queries);

  bool is_at_end() const { return leaf_ == static_cast<Index>(queries_before_.size()) - 1; }
  /// The next leaves that hold at most so many queries together, but at least one query if there is
  /// any left.
  Chunk peek(Index max_queries) const;
  /// The first leaves of the chunk of which at most `most` neighbours are listed, but at least one
  /// that is not empty; `before` holds the neighbours before each query of the chunk, and of all.
  Chunk shorten(const Chunk& chunk, const std::vector<Index>& before, Index most) const;
  void advance(const Chunk& chunk) { leaf_ = chunk.first_leaf + chunk.num_leaves; }

 private:
  Chunk until(Index end) const;

  std::vector<Index> queries_before_;  ///< each leaf, and all
  Index leaf_ = 0;
};

}  // namespace zhalo
