/// Queries taken some leaves at a time, and the memory of their lists.
#pragma once

#include <vector>

#include "kernels/kernels.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {

/// Leaves [first_slot, first_slot + num_slots) and their queries.
struct Chunk {
  Index first_slot = 0;
  Index num_slots = 0;
  Index first_query = 0;
  Index num_queries = 0;
};

/// Cuts the leaves of a tree into chunks.
class Chunks {
 public:
  template <class Real>
  Chunks(const Exec& exec, const kernels::TreeView<Real>& queries);

  bool is_at_end() const { return slot_ == static_cast<Index>(queries_before_.size()) - 1; }
  /// The next leaves that hold at most so many queries together, but at least one query if there is any left.
  Chunk peek(Index most_queries) const;
  /// The first leaves of the chunk of which at most `most` neighbours are listed, but at least one that is not empty; `before` holds the
  /// neighbours before each query of the chunk, and of all.
  Chunk shorten(const Chunk& chunk, const std::vector<Index>& before, Index most) const;
  void advance(const Chunk& chunk) { slot_ = chunk.first_slot + chunk.num_slots; }

 private:
  Chunk until(Index end) const;

  std::vector<Index> queries_before_;  ///< each leaf slot, and all
  Index slot_ = 0;
};

}  // namespace zhalo
