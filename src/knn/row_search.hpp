/// Searches for neighbours, chunk by chunk: among this rank's particles and then among those that
/// other ranks send. What goes in, what is fetched, and the search itself.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/knn.hpp"
#include "kernels/tree.hpp"
#include "src/comm/exchange.hpp"
#include "src/domain/domain_state.hpp"
#include "src/domain/redistribution.hpp"
#include "src/tree/tree.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo {

// What a rank knows of the particles of the others: which ranks a ball of queries may reach, and
// how far it must reach at most.

class OtherRanks {
 public:
  /// `boxes` of each rank, with those of rank `own`. Periods are infinite where not periodic.
  OtherRanks(std::vector<CoarseBoxes> boxes, int own, const double (&period)[3]);

  int num_ranks() const { return static_cast<int>(boxes_.size()); }
  /// Around the particles of each other rank that has any.
  Span<const kernels::CoarseBox> hulls() const { return hulls_; }
  /// Around each kernels::hulls_of_group of them.
  Span<const kernels::CoarseBox> group_hulls() const { return group_hulls_; }

  /// Calls `work(rank)` for each other rank with a box within reach of this one.
  template <class Work>
  void for_each_near(const kernels::CoarseBox& box, double reach2, const Work& work) const {
    for_each_hull_near(box, reach2, [&](std::size_t hull) {
      const auto boxes = boxes_[static_cast<std::size_t>(ranks_[hull])].span();
      const bool is_near = std::any_of(boxes.begin(), boxes.end(), [&](const auto& other) {
        return kernels::gap2(box, other, period_) <= reach2;
      });
      if (is_near) work(ranks_[hull]);
    });
  }

  struct Bound {
    double distance2 = std::numeric_limits<double>::infinity();
    int rank = -1;  ///< none
  };
  /// The rank that surely has `num` particles nearest to every point of the box, as far as boxes
  /// tell, and how far they are at most. None if no other rank has so many.
  Bound nearest_with(const kernels::CoarseBox& box, Index num) const;

  /// How far `num` particles of all ranks, this one included, are at most from every point of the
  /// box, squared. Infinite if there are fewer.
  double reach_of(const kernels::CoarseBox& box, Index num) const;

 private:
  /// Calls `work(hull)`, an index, for each hull within reach. The work may shorten the reach.
  template <class Work>
  void for_each_hull_near(const kernels::CoarseBox& box, const double& reach2,
                          const Work& work) const {
    for (std::size_t group = 0; group < group_hulls_.size(); ++group) {
      if (kernels::gap2(box, group_hulls_[group], period_) > reach2) continue;
      const std::size_t first = group * kernels::hulls_of_group;
      const std::size_t end = std::min(hulls_.size(), first + kernels::hulls_of_group);
      for (std::size_t hull = first; hull < end; ++hull)
        if (kernels::gap2(box, hulls_[hull], period_) <= reach2) work(hull);
    }
  }

  std::vector<CoarseBoxes> boxes_;  ///< of each rank
  std::vector<int> ranks_;          ///< of each hull
  std::vector<Index> num_;          ///< particles in each hull
  std::vector<kernels::CoarseBox> hulls_;
  std::vector<kernels::CoarseBox> group_hulls_;
  double period_[3];
};

// Chunks of queries.

using Chunk = kernels::QueryChunk;

/// Cuts the leaves of a tree into chunks. Waits for the device only if there are several: then it
/// learns of some at a time.
template <class Real>
class Chunks {
 public:
  /// The tree must live on.
  Chunks(const Exec& exec, const kernels::TreeView<Real>& queries)
      : exec_(exec), queries_(queries) {}

  bool is_at_end() const { return next_.first_leaf == queries_.level_size[0]; }
  /// The next leaves that hold at most so many queries together, but at least one query if there is
  /// any left. `num_alike` further chunks may be asked for with the same number.
  Chunk peek(Index max_queries, Index num_alike);
  /// Beyond what peek() gave.
  void advance(const Chunk& chunk) {
    if (next_ahead_ < ahead_.size()) ++next_ahead_;
    next_ = {chunk.first_leaf + chunk.num_leaves, 0, chunk.first_query + chunk.num_queries, 0};
  }

 private:
  const Exec& exec_;
  kernels::TreeView<Real> queries_;
  Chunk next_;  ///< without leaves: where it begins
  std::vector<Chunk> ahead_;
  std::size_t next_ahead_ = 0;  ///< index of the next one there
};

// What a search is given, in a domain.

template <class Real>
struct SearchInput {
  std::shared_ptr<DomainState<Real>> domain;
  KnnSpecies species;
  std::vector<ColumnView> columns;                 ///< of the targets, in the domain's order
  std::vector<Buffer<std::byte>> columns_of_ours;  ///< what the views show, if it was copied

  bool queries_are_particles() const { return species.queries == species.targets; }
  DomainSpecies<Real>& of(int which) const {
    return domain->species[static_cast<std::size_t>(which)];
  }
  Distribution<Real>& particles() const { return of(species.targets).particles; }
  Distribution<Real>& queries() const { return of(species.queries).particles; }
};

/// Makes a domain of the caller's particles and queries, or takes the one that is given; brings
/// columns of the caller's into its order. All has been validated. Collective.
template <class Real>
SearchInput<Real> make_search_input(const Context& context, const KnnTargets<Real>& targets,
                                    const Box& box, const std::vector<ColumnView>& columns);

// Particles that other ranks send.

/// What came, in the order of ranks, and of the Z-order on each.
template <class Real>
struct FetchedTargets {
  Buffer<Real> pos[3];
  Buffer<Index> global_index;
  std::vector<Buffer<std::byte>> columns;
  std::unique_ptr<Tree<Real>> tree;  ///< none if nothing came

  Index num() const { return global_index.size(); }
};

using kernels::Ball;

/// What other ranks ask of this one. All of it travels at once, or in batches.
template <class Real>
struct AskedBalls {
  static constexpr Index all_at_once = std::numeric_limits<Index>::max();

  Received<Ball<Real>> balls;
  /// For each rank, ascending. None if there are too many: then they are selected for each batch.
  std::vector<Buffer<LocalIndex>> particles;
  ExchangePlan plan;      ///< of all of them
  Index num_batches = 1;  ///< the same on all ranks
};

/// Asks the other ranks for the leaves that balls touch.
template <class Real>
class Fetcher {
 public:
  /// `search.tree` is the tree of this rank's particles. Collective.
  Fetcher(const Context& context, Distribution<Real>& particles,
          const kernels::SearchView<Real>& search, const std::vector<ColumnView>& columns);

  /// One ball for each query leaf of the chunk that may need particles of other ranks. Its radius
  /// is the distance of the worst k-th neighbour found so far. It is max_radius (infinite unless
  /// given) if a row is not full or there are no rows.
  std::vector<Ball<Real>> balls_of(const kernels::SearchView<Real>& search, const Chunk& chunk,
                                   const kernels::BestRows<Real>& rows) const;
  struct Needed {
    Index k = 0;
    int leaf_size = 0;
    Index with_self = 0;  ///< k, and one more if a query is a particle that is left out
  };
  /// Balls that reach far get a shorter reach that is enough. For each of them the rank that seems
  /// nearest tells how far its k-th particle is from the ball's middle. Collective.
  void tighten(std::vector<Ball<Real>>& balls, const Needed& needed) const;
  /// Tells the other ranks what this one needs. A batch brings a rank no more particles than it
  /// holds itself, or `max_at_once` if these are more, but for one of each other rank. Collective.
  AskedBalls<Real> ask(const std::vector<Ball<Real>>& balls, Index max_at_once) const;
  /// Brings one of the batches. Collective.
  FetchedTargets<Real> fetch(const AskedBalls<Real>& asked, Index batch, int leaf_size) const;

 private:
  std::vector<std::vector<Ball<Real>>> requests_of(const std::vector<Ball<Real>>& balls) const;
  Buffer<LocalIndex> select(const AskedBalls<Real>& asked, std::size_t rank) const;
  Redistribution redistribution_of(const AskedBalls<Real>& asked, Index batch) const;
  std::vector<Real> distances_from(const std::vector<std::array<Real, 3>>& points,
                                   const Needed& needed) const;

  const Context& context_;
  Distribution<Real>& particles_;
  kernels::SearchView<Real> search_;
  std::vector<ColumnView> columns_;
  OtherRanks others_;
  Buffer<kernels::CoarseBox> hulls_;
  Buffer<kernels::CoarseBox> group_hulls_;
};

// The search itself.

template <class Real>
class RowSearch {
 public:
  /// The context must outlive it. Collective.
  RowSearch(const Context& context, SearchInput<Real> input, const NeighbourSearch& options);

  /// Lists the neighbours of the next chunk; false if there is none on any rank, after a wait for
  /// all that was queued. The lists are only queued. Collective.
  bool queue_next();
  /// Once all ranks know that none has failed: until then queue_next() begins with the same chunk.
  void accept() {
    chunks_->advance(chunk_);
    ++statistics_.chunks;
  }

  const NeighbourRows<Real>& view() const { return view_; }
  const Chunk& chunk() const { return chunk_; }
  const Distribution<Real>& queries() const { return input_.queries(); }
  SearchColumnView column(int i) const;
  const KnnStatistics& statistics() const { return statistics_; }

 private:
  void set_space();
  void prepare();
  Index max_queries() const;
  Index max_neighbours_listed() const;
  kernels::SearchView<Real> search_of_chunk() const;
  std::optional<kernels::SearchView<Real>> search_of_fetched() const;
  void fetch(const AskedBalls<Real>& asked, Index batch);
  AskedBalls<Real> fetch_first(const std::vector<Ball<Real>>& balls, Index max_at_once);
  void make_room(Index num_neighbours);
  void clear_counts();
  Index make_offsets();
  void find_nearest();
  std::vector<Ball<Real>> balls_within() const;
  void search_fetched(const kernels::WithinRows<Real>& rows);
  void search_within(const kernels::WithinRows<Real>& rows);
  void count_within();
  void list_within();
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
  std::optional<Chunks<Real>> chunks_;

  Index queries_within_ = 1024;  ///< of a chunk within a radius
  Chunk chunk_;
  std::optional<FetchedTargets<Real>> fetched_;
  Buffer<Real> distance2_;
  Buffer<LocalIndex> local_index_;
  Buffer<LocalIndex> count_;
  Buffer<Index> num_within_;  ///< over all batches: no local index may hold so many
  Buffer<Index> offset_;
  Buffer<kernels::SearchWork> work_;
  NeighbourRows<Real> view_;
  KnnStatistics statistics_;
};

// Masses and velocities as quantities of neighbours need them.

/// If all particles of all ranks have one mass, no column of masses is needed. Collective.
/// InputError if that is negative or not finite.
template <class Real>
std::optional<kernels::EqualMasses> equal_masses_of(const Context& context,
                                                    const Particles<Real>& particles);

/// Columns of this rank's particles, one behind the other, as double: those that at least one of
/// the quantities needs. In memory of the context's Exec.
template <class Real>
class QuantityInput {
 public:
  /// Positions are not looked at.
  QuantityInput(const Context& context, const Particles<Real>& particles,
                const std::optional<kernels::EqualMasses>& equal_masses,
                const QuantityNeeds& needs);

  /// InputError if a mass of the targets, whose columns these are, is negative or not finite.
  /// Collective.
  void validate_masses(const Context& context, const KnnTargets<Real>& targets) const;

  const std::vector<ColumnView>& columns() const { return columns_; }

  /// Gives their memory back. A search of particles that are in no domain has copies in its own
  /// order.
  void release();

  /// The columns at the neighbours, in a search that has them from number `first` on.
  kernels::QuantityColumns at_neighbours(const NeighbourLists<Real>& lists, int first) const;

 private:
  void pack(const Context& context, const Particles<Real>& particles);

  int dimensions_;
  std::optional<kernels::EqualMasses> equal_masses_;
  Buffer<double> mass_;
  Buffer<double> velocity_;
  bool all_masses_positive_ = true;  ///< on this rank
  std::vector<ColumnView> columns_;
};

}  // namespace zhalo
