/// The search itself: chunk by chunk, among this rank's particles and then among those that other
/// ranks send.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "src/knn/chunks.hpp"
#include "src/knn/fetch.hpp"
#include "src/knn/search_input.hpp"
#include "src/tree/tree.hpp"

namespace zhalo {

template <class Real>
class RowSearch {
 public:
  /// The context must outlive it. Collective.
  RowSearch(const Context& context, SearchInput<Real> input, const NeighbourSearch& options);

  /// Lists the neighbours of the next chunk; false if there is none on any rank. Collective.
  bool next();

  const NeighbourRows<Real>& view() const { return view_; }
  const Chunk& chunk() const { return chunk_; }
  const DistributedParticles<Real>& queries() const { return input_.queries(); }
  kernels::PlacedBytes column(int i) const;
  const KnnStatistics& statistics() const { return statistics_; }

 private:
  void set_space();
  void prepare();
  Index max_queries() const;
  Index max_neighbours_listed() const;
  kernels::SearchView<Real> search_of_chunk() const;
  std::optional<kernels::SearchView<Real>> search_of_fetched() const;
  void fetch(const std::vector<Ball<Real>>& balls);
  void make_room(Index num_neighbours);
  void clear_counts();
  void find_nearest();
  void find_within();
  void show();
  void note_work();

  const Context& context_;
  NeighbourSearch options_;
  SearchInput<Real> input_;
  std::shared_ptr<const Tree<Real>> tree_;
  std::shared_ptr<const Tree<Real>> query_tree_;  ///< the same if queries are the particles
  Buffer<Index> smallest_;
  Buffer<Index> smallest_fetched_;
  kernels::SearchView<Real> search_;
  std::optional<Fetcher<Real>> fetcher_;
  std::optional<Chunks> chunks_;

  Index queries_within_ = 1024;  ///< of a chunk within a radius
  Chunk chunk_;
  std::optional<FetchedParticles<Real>> fetched_;
  Buffer<Real> distance2_;
  Buffer<LocalIndex> local_index_;
  Buffer<LocalIndex> count_;
  Buffer<Index> offset_;
  Buffer<kernels::SearchWork> work_;
  NeighbourRows<Real> view_;
  KnnStatistics statistics_;
};

}  // namespace zhalo
