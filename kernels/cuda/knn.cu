// Searches for neighbours on CUDA, by a warp for each leaf of queries.
#define ZHALO_BACKEND Cuda

#include <limits>

#include "kernels/cuda/lane_values.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/lanes/warp_lanes.cuh"
// The loops come first: the texts of kernels/common are written in terms of them.
#include "kernels/common/knn/nodes.hpp"
#include "kernels/common/knn/rows.hpp"
// After the lanes.
#include "kernels/lanes/tree_lanes.inl.hpp"
// After distances.
#include "kernels/common/knn/walk.inl.hpp"
// After the walk.
#include "kernels/common/knn/first_bounds.inl.hpp"
// After the walk.
#include "kernels/common/knn/best_list.inl.hpp"
#include "kernels/common/knn/few_rows.inl.hpp"
#include "kernels/common/knn/nearest.inl.hpp"

// The k nearest neighbours for k above that of FindFewNearest, by a warp for each leaf of queries.
//
// There each candidate costs some instructions for each neighbour of the list. Here the lanes look
// at candidates of one query, and a candidate costs the same for any k: what is within the bound is
// put aside, the k nearest of it are selected by bisection, and sorted once.

namespace zhalo::kernels {

/// Leaves that are listed before queries look at them. All that are near should find room: with 96,
/// most queries for 64 neighbours of uniform particles had to look twice.
template <class Real, int max_k>
inline constexpr int max_leaves_listed = sizeof(Real) == 4 && max_k > 32 ? 160 : 96;

template <class Real, int max_k>
struct SelectionScratch : WalkScratch<Real, max_leaves_listed<Real, max_k>, 0> {
  using Walk = WalkScratch<Real, max_leaves_listed<Real, max_k>, 0>;
  static constexpr int max_staged = 2 * max_k + 64;

  ParticleRun run[Walk::room_for_leaves];  ///< of each listed leaf
  Real lost2[Walk::room_for_queries];      ///< of each query: see SelectNearest
  LaneElement<Real> staged[max_staged];    ///< squared distances of particles of the tree
};

/// Where one more of equally distant neighbours belongs to a row than there is room for, any of
/// them are taken, and the row is marked as tied.
template <class Real, int max_k>
struct SelectNearest : BoundedWalk<WarpLanes<Real>, BestRows<Real>, SelectNearest<Real, max_k>,
                                   SelectionScratch<Real, max_k>> {
  using Lanes = WarpLanes<Real>;
  using Scratch = SelectionScratch<Real, max_k>;
  using Base = BoundedWalk<Lanes, BestRows<Real>, SelectNearest, Scratch>;
  using Base::Base;
  using Base::infinity;
  using Base::rows;
  using Base::search;
  using typename Base::ParticleWindow;
  using typename Base::Walk;
  static constexpr int warps_in_block = 2;
  /// On a multiprocessor: with more of them, a device would keep registers in memory.
  static constexpr int warps_at_once = 24 - (sizeof(Real) > 4 ? 4 : 0) - (max_k > 64 ? 6 : 0);

  __device__ void operator()(const Lanes& lanes, Index item, Scratch& s) const {
    Walk walk = this->walk_of(item, s);
    if (walk.num == 0) return;
    for (int i = 0; i < walk.num; ++i) bound_query(lanes, walk, i);
    lanes.sync();
    refine(walk);
    this->start(lanes, walk);
  }

  template <class Metric>
  __device__ void visit(const Lanes& lanes, const Metric& metric, Walk& walk) const {
    Scratch& s = walk.scratch;
    for (int l = Lanes::own(); l < walk.num_leaves; l += Lanes::size)
      s.run[l] = this->run_of(s.leaf[l]);
    lanes.sync();
    for (int i = 0; i < walk.num; ++i) visit_query(lanes, metric, walk, i);
  }

  __device__ void refine(Walk& walk) const {
    walk.reach2 = -1;
    for (int i = 0; i < walk.num; ++i)
      walk.reach2 = Lanes::max(walk.reach2, walk.scratch.bound2[i]);
  }

 private:
  static constexpr int num_in_row = max_k / Lanes::size;
  static constexpr int num_in_stage = Scratch::max_staged / Lanes::size;
  /// With so many, 2.0 to 2.7 k particles lie within the bound (k = 32 and 64). With half as many
  /// it is 2.7 to 6.2 k, with twice as many 1.6 to 2.1 k.
  static constexpr int num_in_window = max_k / 16 + 4;

  using Element = LaneElement<Real>;

  struct Query {
    Real x[3];
    Real bound2;      ///< what is further away is of no use
    Real lost2;       ///< the nearest that was left out although it was within the bound
    LocalIndex self;  ///< its index among the particles of the tree, if it is left out
    int num_staged = 0;
    int num_leaves = 0;
    int num_pairs = 0;
  };

  __device__ Query query_of(const Walk& walk, int i) const {
    const LocalIndex index = walk.begin + static_cast<LocalIndex>(i);
    const auto& x = search.queries.pos.axis;
    return {{x[0][index], x[1][index], x[2][index]},
            search.reach2,
            infinity,
            search.leave_out_self ? index : no_index};
  }

  /// Enough of the window's particles lie within the bound, and not many more.
  __device__ void bound_query(const Lanes& lanes, const Walk& walk, int i) const {
    Query query = query_of(walk, i);
    const PeriodicSpace<Lanes> space(lanes, search.period);
    const ParticleWindow window = this->window_around(
        lanes, space, walk, walk.begin + static_cast<LocalIndex>(i), num_in_window * Lanes::size);
    const int needed = static_cast<int>(rows.k) + (search.leave_out_self ? 1 : 0);
    if (window.size >= needed) {
      Real r2[num_in_window];
      ZHALO_UNROLL
      for (int u = 0; u < num_in_window; ++u) {
        const int left = window.size - u * Lanes::size;
        Real x[3];
        this->load_some(lanes, search.tree, window.begin + static_cast<LocalIndex>(u * Lanes::size),
                        left, x);
        r2[u] = Lanes::own() < left ? this->distance2(space, query.x, x) : infinity;
      }
      const LimitSearch<Real, num_in_window> limits{lanes, r2};
      const Real bound2 = limits.between(needed, needed + needed / 16, limits.largest()).value;
      query.bound2 = Lanes::min(query.bound2, bound2);
    }
    lanes.one([&] { walk.scratch.bound2[i] = query.bound2; });
  }

  template <class Metric>
  __device__ void visit_query(const Lanes& lanes, const Metric& metric, Walk& walk, int i) const {
    Scratch& s = walk.scratch;
    Query query = query_of(walk, i);
    query.bound2 = s.bound2[i];
    if (walk.was_visited) read_row(lanes, walk, i, query);
    for (int l = 0; l < walk.num_leaves; l += Lanes::size) {
      std::uint32_t near = leaves_of_use(lanes, metric, walk, l, query);
      while (near != 0) {
        const ParticleRun first = take_run(l, near, s, query);
        const ParticleRun second = near != 0 ? take_run(l, near, s, query) : ParticleRun{0, 0};
        if (look_at(lanes, metric, first, second, query, s))
          near &= leaves_of_use(lanes, metric, walk, l, query);
      }
    }
    if (query.num_staged > rows.k) select(lanes, query, s);
    lanes.sync();
    if (walk.height > 0) {
      set_aside(lanes, walk, i, query);
    } else {
      write_row(lanes, walk, i, query);
    }
    lanes.one([&] {
      s.bound2[i] = query.bound2;
      s.lost2[i] = query.lost2;
      s.work.leaves += query.num_leaves;
      s.work.pairs += query.num_pairs;
    });
    lanes.sync();  // the next query uses the same scratch memory
  }

  /// One bit for each of the listed leaves from `l` on that is within the query's bound.
  template <class Metric>
  __device__ std::uint32_t leaves_of_use(const Lanes& lanes, const Metric& metric, const Walk& walk,
                                         int l, const Query& query) const {
    const int own = l + Lanes::own();
    Corners<Lanes> box{};
    if (own < walk.num_leaves) box = this->listed_boxes(lanes, walk, l);
    const Corners<Lanes> point{{query.x[0], query.x[1], query.x[2]},
                               {query.x[0], query.x[1], query.x[2]}};
    const Real r2 = this->gap2(metric, point, box, 0);
    return static_cast<std::uint32_t>(lanes.ballot(own < walk.num_leaves && r2 <= query.bound2));
  }

  /// The particles of the first of the leaves, which is none of them then.
  __device__ static ParticleRun take_run(int l, std::uint32_t& near, const Scratch& s,
                                         Query& query) {
    const ParticleRun run = s.run[l + lowest_bit(near)];
    near &= near - 1;
    ++query.num_leaves;
    query.num_pairs += static_cast<int>(run.end - run.begin);
    return run;
  }

  /// Puts aside what is within the bound of two leaves: while the warp waits for the memory of one,
  /// the other's comes. Whether the bound has become closer.
  template <class Metric>
  __device__ bool look_at(const Lanes& lanes, const Metric& metric, ParticleRun first,
                          ParticleRun second, Query& query, Scratch& s) const {
    bool is_closer = false;
    while (first.begin < first.end || second.begin < second.end) {
      if (query.num_staged > Scratch::max_staged - 2 * Lanes::size) {
        select(lanes, query, s);
        is_closer = true;
      }
      const Candidates a = candidates_of(metric, first, query);
      const Candidates b = candidates_of(metric, second, query);
      stage(lanes, a, query, s);
      stage(lanes, b, query, s);
      first.begin += Lanes::size;
      second.begin += Lanes::size;
    }
    return is_closer;
  }

  struct Candidates {
    LocalIndex own;  ///< that of the lane
    Real r2;
    bool is_within;  ///< the bound
  };

  template <class Metric>
  __device__ Candidates candidates_of(const Metric& metric, const ParticleRun& run,
                                      const Query& query) const {
    const LocalIndex own = run.begin + static_cast<LocalIndex>(Lanes::own());
    Real x[3] = {};
    if (own < run.end)
      for (int axis = 0; axis < 3; ++axis) x[axis] = search.tree.pos.axis[axis][own];
    const Real r2 = this->distance2(metric, query.x, x);
    return {own, r2, own < run.end && r2 <= query.bound2 && own != query.self};
  }

  __device__ void stage(const Lanes& lanes, const Candidates& found, Query& query,
                        Scratch& s) const {
    const auto bits = static_cast<std::uint32_t>(lanes.ballot(found.is_within));
    if (found.is_within)
      s.staged[query.num_staged + count_bits(bits & before_own())] = {found.r2, found.own};
    query.num_staged += count_bits(bits);
  }

  // ---------------------------------------------------------------- the k nearest of the staged

  /// Leaves them alone, and brings the query's bound down to them.
  __device__ void select(const Lanes& lanes, Query& query, Scratch& s) const {
    const auto k = static_cast<int>(rows.k);
    lanes.sync();
    Element found[num_in_stage];
    Real r2[num_in_stage];
    ZHALO_UNROLL
    for (int u = 0; u < num_in_stage; ++u) {
      found[u] = staged_of(u, query, s);
      r2[u] = found[u].value;
    }
    const LimitSearch<Real, num_in_stage> limits{lanes, r2};
    // Some as far as the one that was lost may still be there.
    const Real reach2 = query.lost2 < infinity ? query.lost2 : query.bound2;
    const Limit<Real> limit = limits.between(k, k, {reach2, query.num_staged});
    query.bound2 = limit.value;
    if (limit.count > k) leave_out(lanes, limit, r2, query);
    lanes.sync();  // all were read
    query.num_staged = 0;
    ZHALO_UNROLL
    for (int u = 0; u < num_in_stage; ++u)
      stage(lanes, {found[u].index, r2[u], r2[u] <= limit.value}, query, s);
    lanes.sync();
  }

  /// Number u of a lane.
  __device__ static Element staged_of(int u, const Query& query, const Scratch& s) {
    const int at = u * Lanes::size + Lanes::own();
    return at < query.num_staged ? s.staged[at] : Element{infinity, no_index};
  }

  /// Those that are too many of the furthest, which are all as far. From now on the query wants
  /// nearer ones only: thus many particles at one position cost no more than others.
  __device__ void leave_out(const Lanes& lanes, const Limit<Real>& limit, Real (&r2)[num_in_stage],
                            Query& query) const {
    int excess = limit.count - static_cast<int>(rows.k);
    ZHALO_UNROLL
    for (int u = 0; u < num_in_stage; ++u) {
      const auto equal = static_cast<std::uint32_t>(lanes.ballot(r2[u] == limit.value));
      if (r2[u] == limit.value && count_bits(equal & before_own()) < excess) r2[u] = infinity;
      excess -= count_bits(equal) < excess ? count_bits(equal) : excess;
    }
    query.lost2 = Lanes::min(query.lost2, limit.value);
    query.bound2 = BitsOfReal<Real>::below(limit.value);
  }

  // ---------------------------------------------------------------- rows

  /// While the walk goes on: in no order.
  __device__ void set_aside(const Lanes& lanes, const Walk& walk, int i, const Query& query) const {
    const Index row = this->row_of(walk, i);
    ZHALO_UNROLL
    for (int u = 0; u < num_in_row; ++u) {
      const int at = u * Lanes::size + Lanes::own();
      if (at >= query.num_staged) continue;
      rows.distance2[row * rows.k + at] = walk.scratch.staged[at].value;
      rows.local_index[row * rows.k + at] =
          search.first_local_index + walk.scratch.staged[at].index;
    }
    lanes.one([&] { rows.count[row] = static_cast<LocalIndex>(query.num_staged); });
  }

  /// What was set aside.
  __device__ void read_row(const Lanes& lanes, const Walk& walk, int i, Query& query) const {
    Scratch& s = walk.scratch;
    const Index row = this->row_of(walk, i);
    query.num_staged = static_cast<int>(rows.count[row]);
    query.lost2 = s.lost2[i];
    ZHALO_UNROLL
    for (int u = 0; u < num_in_row; ++u) {
      const int at = u * Lanes::size + Lanes::own();
      if (at >= query.num_staged) continue;
      s.staged[at] = {rows.distance2[row * rows.k + at],
                      rows.local_index[row * rows.k + at] - search.first_local_index};
    }
    lanes.sync();
  }

  /// In the order of distance, equal ones in that of their global index; at infinity where there is
  /// no neighbour.
  __device__ void write_row(const Lanes& lanes, const Walk& walk, int i, const Query& query) const {
    Scratch& s = walk.scratch;
    const auto k = static_cast<int>(rows.k);
    Element best[num_in_row];
    ZHALO_UNROLL
    for (int u = 0; u < num_in_row; ++u) best[u] = staged_of(u, query, s);
    sort<Real, num_in_row>(lanes, best);
    lanes.sync();
    const Index row = this->row_of(walk, i);
    bool is_tied = false;
    ZHALO_UNROLL
    for (int u = 0; u < num_in_row; ++u) {
      const int at = u * Lanes::size + Lanes::own();
      s.staged[at] = best[u];
      if (at >= k) continue;
      rows.distance2[row * k + at] = best[u].value;
      rows.local_index[row * k + at] = search.first_local_index + best[u].index;
      is_tied = is_tied || (query.num_staged == k && query.lost2 <= best[u].value);
    }
    is_tied = lanes.any(is_tied);
    const bool has_equals = any_equals(lanes, best, s);
    lanes.one([&] {
      rows.count[row] = is_tied ? tied_row : static_cast<LocalIndex>(query.num_staged);
      if (has_equals) order_equals(search, rows, row);
    });
  }

  /// Whether any of the sorted distances is like the next one. They lie in the scratch memory, too.
  __device__ static bool any_equals(const Lanes& lanes, const Element (&best)[num_in_row],
                                    const Scratch& s) {
    lanes.sync();
    bool are_equal = false;
    ZHALO_UNROLL
    for (int u = 0; u < num_in_row; ++u) {
      const int at = u * Lanes::size + Lanes::own();
      const Real before2 = at > 0 ? s.staged[at - 1].value : -1;
      are_equal = are_equal || (best[u].value < infinity && best[u].value == before2);
    }
    return lanes.any(are_equal);
  }

  /// A bit for each lane before this one.
  __device__ static std::uint32_t before_own() { return (1U << Lanes::own()) - 1; }
};

template <int max_k, class Real>
void run_selection(const Cuda& exec, const SearchView<Real>& search, Index num_leaves,
                   const BestRows<Real>& rows) {
  for_each_with_lanes(exec, num_leaves, SelectNearest<Real, max_k>{search, rows},
                      WarpLanes<Real>{});
}

/// As find_nearest(), but for rows that are tied. False if k is too large for it.
template <class Real>
bool select_nearest(const Cuda& exec, const SearchView<Real>& search, Index num_leaves,
                    const BestRows<Real>& rows) {
  if (rows.k > 128) return false;
  if (rows.k <= 32) {
    run_selection<32>(exec, search, num_leaves, rows);
  } else if (rows.k <= 64) {
    run_selection<64>(exec, search, num_leaves, rows);
  } else {
    run_selection<128>(exec, search, num_leaves, rows);
  }
  return true;
}

}  // namespace zhalo::kernels

// After nearest and select_nearest().
#include "kernels/common/knn/few_nearest.inl.hpp"
