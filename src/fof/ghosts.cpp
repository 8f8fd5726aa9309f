#include "src/fof/fof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/on.hpp"
#include "src/comm/exchange.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/redistribution.hpp"
#include "src/tree/tree.hpp"

namespace zhalo {
namespace {

using kernels::GhostEdge;

void sort_unique(std::vector<GhostEdge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const GhostEdge& a, const GhostEdge& b) {
    return a.remote != b.remote ? a.remote < b.remote : a.local < b.local;
  });
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

/// Particles that are to be sent, one neighbour after the other, as many at a time as the batch
/// allows.
template <class Real>
class GhostQueue {
 public:
  GhostQueue(const Context& context, const LinkedSets<Real>& particles, Index batch)
      : context_(context), tree_(particles.fof.tree), num_particles_(particles.num), batch_(batch) {
    for (int axis = 0; axis < 3; ++axis) reach_.period[axis] = particles.fof.exact_period[axis];
    constexpr double rounding = 1e-9;
    reach_.reach2 =
        particles.fof.linking_length2 * (1 + rounding) + std::numeric_limits<double>::min();
    choose_receivers(neighbours_within(context.comm, coarse_boxes(context.exec, tree_), reach_));
  }

  bool is_empty() const { return next_ == receivers_.size() && taken_ == list_.size(); }

  /// The next particles, and how many of them go to each rank: as many as the batch allows, and as
  /// the last of these ranks takes at a time.
  struct Batch {
    Buffer<LocalIndex> particles;
    std::vector<Index> counts;
  };
  Batch take() {
    Batch taken{{}, std::vector<Index>(static_cast<std::size_t>(context_.comm.size()))};
    const auto receivers_left = static_cast<Index>(receivers_.size() - next_);
    const Index max_num = std::min(batch_, list_.size() - taken_ + receivers_left * num_particles_);
    Buffer<LocalIndex> room(context_.exec, max_num, "ghosts to send");
    Index num = 0;
    while (num < max_num && !is_empty()) {
      if (taken_ == list_.size()) {
        fill_list();
        continue;
      }
      const Receiver& receiver = receivers_[next_ - 1];
      const Index count = std::min({max_num - num, list_.size() - taken_, receiver.max_at_once});
      queue_copy(context_.exec, room.data() + num, list_.data() + taken_,
                 static_cast<std::size_t>(count) * sizeof(LocalIndex));
      taken.counts[static_cast<std::size_t>(receiver.neighbour.rank)] = count;
      taken_ += count;
      num += count;
      if (taken_ < list_.size()) break;
    }
    room.shrink(num);
    taken.particles = std::move(room);
    return taken;
  }

 private:
  struct Receiver {
    Neighbour neighbour;
    Index max_at_once;  ///< of all its neighbours together they are no more than a batch of its own
  };

  /// Does `work(backend, search)` for the particles that a neighbour may need.
  template <class Work>
  auto search_for(const Neighbour& neighbour, const Work& work) const {
    const auto boxes = to_exec(context_.exec, neighbour.boxes.span(), "boxes of another rank");
    kernels::GhostSearch<Real> search{
        tree_, neighbour.boxes.around_all(), boxes.span(), {}, reach_.reach2};
    std::copy(reach_.period, reach_.period + 3, search.period);
    return kernels::on(context_.exec, [&](const auto& e) { return work(e, search); });
  }

  /// Of two ranks the one with fewer particles near the other's boxes sends them, the lower one if
  /// both have as many: those around a dense halo travel, not the halo. Then each rank tells those
  /// that send to it how many it takes at a time, so that all of them together fill its batch.
  /// Collective.
  void choose_receivers(const std::vector<Neighbour>& neighbours) {
    const int own_rank = context_.comm.rank();
    std::vector<Index> near(static_cast<std::size_t>(context_.comm.size()));
    for (const Neighbour& neighbour : neighbours)
      near[static_cast<std::size_t>(neighbour.rank)] = search_for(
          neighbour,
          [](const auto& e, const auto& ghosts) { return kernels::count_ghosts(e, ghosts); });
    const std::vector<Index> theirs = told_by_ranks(near);
    std::vector<Index> incoming(near.size());
    for (const Neighbour& neighbour : neighbours) {
      const auto rank = static_cast<std::size_t>(neighbour.rank);
      if (near[rank] == 0 || theirs[rank] == 0) continue;
      const bool sends =
          near[rank] < theirs[rank] || (near[rank] == theirs[rank] && own_rank < neighbour.rank);
      if (sends) {
        receivers_.push_back({neighbour, 0});
      } else {
        incoming[rank] = theirs[rank];
      }
    }
    const Index all = std::accumulate(incoming.begin(), incoming.end(), Index{0});
    const double share = std::min(1.0, static_cast<double>(batch_) / static_cast<double>(all));
    for (Index& num : incoming)  // as double: a product of both may exceed an Index
      num = static_cast<Index>(std::ceil(static_cast<double>(num) * share));
    const std::vector<Index> limits = told_by_ranks(incoming);
    for (Receiver& receiver : receivers_)
      receiver.max_at_once = limits[static_cast<std::size_t>(receiver.neighbour.rank)];
  }

  /// The number that each rank tells this one, for those that this one tells. A plan is told the
  /// same way: nothing is sent to ranks that get a 0. Collective.
  std::vector<Index> told_by_ranks(const std::vector<Index>& numbers) const {
    const ExchangePlan plan = context_.comm.plan_exchange(numbers);
    std::vector<Index> told;
    for (std::size_t rank = 0; rank < numbers.size(); ++rank)
      told.push_back(plan.receive_offset[rank + 1] - plan.receive_offset[rank]);
    return told;
  }

  void fill_list() {
    list_ = search_for(receivers_[next_].neighbour, [](const auto& e, const auto& ghosts) {
      return kernels::select_ghosts(e, ghosts);
    });
    taken_ = 0;
    ++next_;
  }

  const Context& context_;
  kernels::TreeView<Real> tree_;
  Index num_particles_;
  Index batch_;
  ReachedBoxes reach_;
  std::vector<Receiver> receivers_;
  std::size_t next_ = 0;     ///< receiver whose list comes next
  Buffer<LocalIndex> list_;  ///< particles for the receiver before it
  Index taken_ = 0;          ///< of the list
};

/// Particles that came from other ranks.
template <class Real>
struct ReceivedGhosts {
  ExchangePlan plan;
  Buffer<Real> pos[3];
  Buffer<LocalIndex> root;

  Index num() const { return root.size(); }
};

template <class Real>
ReceivedGhosts<Real> exchange_ghosts(const Context& context, const LinkedSets<Real>& particles,
                                     typename GhostQueue<Real>::Batch batch) {
  const Exec& exec = context.exec;
  ReceivedGhosts<Real> ghosts;
  ghosts.plan = context.comm.plan_exchange(batch.counts);
  Buffer<LocalIndex> roots(exec, batch.particles.size(), "ghosts to send");
  kernels::on(exec, [&](const auto& e) {
    kernels::find_roots(e, particles.fof.sets, batch.particles.span(), roots.span());
  });
  const Redistribution redistribution(ghosts.plan, std::move(batch.particles));
  const Index num = redistribution.num_received();
  ghosts.root = Buffer<LocalIndex>(exec, num, "ghosts");
  std::vector<Redistribution::Move> moves{{column_view(roots), ghosts.root.data(), true}};
  for (int axis = 0; axis < 3; ++axis) {
    ghosts.pos[axis] = Buffer<Real>(exec, num, "ghosts");
    const Real* from = particles.fof.tree.pos.axis[axis];
    moves.push_back({column_view(Span<const Real>(from, particles.num)), ghosts.pos[axis].data()});
  }
  redistribution.forward(context, moves);
  return ghosts;
}

/// Makes the sets as large as particles and ghosts need.
template <class Real>
void make_room(const Exec& exec, LinkedSets<Real>& particles, Index num_ghosts) {
  const Index needed = particles.num + num_ghosts;
  validate(needed <= max_local_particles,
           "a rank would hold {} particles and ghosts, the most is {}; use more ranks", needed,
           max_local_particles);
  if (needed <= particles.parent.size()) return;
  Buffer<LocalIndex> larger(exec, needed, "union-find");
  queue_copy(exec, larger.data(), particles.parent.data(),
             static_cast<std::size_t>(particles.num) * sizeof(LocalIndex));
  particles.parent = std::move(larger);
  particles.fof.sets.parent = particles.parent.span();
}

/// Links ghosts among themselves and with this rank's particles.
template <class Real>
std::vector<GhostEdge> link_ghosts(const Context& context, LinkedSets<Real>& particles,
                                   ReceivedGhosts<Real>& ghosts, int leaf_size) {
  const Exec& exec = context.exec;
  make_room(exec, particles, ghosts.num());
  const Tree<Real> tree(
      context, {{ghosts.pos[0].data(), ghosts.pos[1].data(), ghosts.pos[2].data()}, ghosts.num()},
      leaf_size);
  Buffer<std::uint8_t> connected(exec, tree.view().level_size[0], "union-find");
  kernels::FofView<Real> fof = particles.fof;
  fof.walkers = {tree.view(), connected.data(), static_cast<LocalIndex>(particles.num)};
  fof.own_leaves_walk = false;
  kernels::FofView<Real> inside = fof;
  static_cast<kernels::LinkedTree<Real>&>(inside) = fof.walkers;

  const auto offsets =
      to_exec(exec, Span<const Index>(ghosts.plan.receive_offset), "ranks of ghosts");
  const auto firsts =
      to_exec(exec, Span<const Index>(particles.numbering.first), "ranks of ghosts");
  const kernels::GhostsView view{fof.walkers.first_in_sets,
                                 {offsets.span(), firsts.span().subspan(0, firsts.size() - 1)},
                                 ghosts.root.span(),
                                 particles.numbering.first.back()};
  return to_host(exec, kernels::on(exec, [&](const auto& e) {
                   kernels::link_inside(e, inside);
                   kernels::link_between(e, fof);
                   return kernels::find_edges(e, fof.sets, view);
                 }));
}

/// Roots of this rank's sets, of elements on this rank.
template <class Real>
std::vector<LocalIndex> roots_of(const Exec& exec, const LinkedSets<Real>& particles,
                                 const std::vector<LocalIndex>& elements) {
  const auto on_exec = to_exec(exec, Span<const LocalIndex>(elements), "ends of edges");
  Buffer<LocalIndex> roots(exec, on_exec.size(), "ends of edges");
  kernels::on(exec, [&](const auto& e) {
    kernels::find_roots(e, particles.fof.sets, on_exec.span(), roots.span());
  });
  return to_host(exec, roots);
}

/// Later ghosts may have joined sets of this rank that had edges before: then some are one edge.
template <class Real>
void take_roots(const Exec& exec, const LinkedSets<Real>& particles,
                std::vector<GhostEdge>& edges) {
  std::vector<LocalIndex> ends(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) ends[e] = edges[e].local;
  const std::vector<LocalIndex> roots = roots_of(exec, particles, ends);
  for (std::size_t e = 0; e < edges.size(); ++e) edges[e].local = roots[e];
  sort_unique(edges);
}

/// Tells the ranks that sent ghosts of the edges found here, so that both sides have them.
template <class Real>
CrossingEdges share_edges(const Context& context, const LinkedSets<Real>& particles,
                          const std::vector<GhostEdge>& edges) {
  const Communicator& comm = context.comm;
  const Index first = particles.numbering.first[static_cast<std::size_t>(comm.rank())];
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()));
  std::vector<Index> remote;
  std::vector<LocalIndex> own;
  for (const GhostEdge& edge : edges) {
    ++counts[static_cast<std::size_t>(particles.numbering.owner(edge.remote))];
    remote.push_back(edge.remote);
    own.push_back(edge.local);
  }
  const ExchangePlan plan = comm.plan_exchange(counts);
  const std::vector<Index> told = exchanged(comm, plan, remote);
  // The edges with one rank were all found here, or all told.
  CrossingEdges shared{{}, {0}};
  std::vector<LocalIndex> ends;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    for (Index e = plan.send_offset[r]; e < plan.send_offset[r + 1]; ++e)
      ends.push_back(own[static_cast<std::size_t>(e)]);
    for (Index e = plan.receive_offset[r]; e < plan.receive_offset[r + 1]; ++e)
      ends.push_back(static_cast<LocalIndex>(told[static_cast<std::size_t>(e)] - first));
    shared.offset.push_back(static_cast<Index>(ends.size()));
  }
  for (const LocalIndex root : roots_of(context.exec, particles, ends))
    shared.node.push_back(first + root);
  return shared;
}

/// An eighth of the particles, but not so few that there are many rounds, and no more than there
/// are local indices for. Each other rank may send one more than its share.
Index batch_of(const FofOptions& options, Index num, int num_ranks) {
  constexpr Index min_batch = 1 << 16;
  const Index wanted = options.ghost_batch > 0 ? options.ghost_batch : std::max(min_batch, num / 8);
  return std::min(wanted, std::max(min_batch, max_local_particles - num - num_ranks));
}

}  // namespace

template <class Real>
CrossingEdges link_across_ranks(const Context& context, LinkedSets<Real>& particles,
                                const FofOptions& options, FofStatistics& statistics) {
  const PhaseTimer timer(context, "ghosts");
  std::vector<GhostEdge> edges;
  Index num_batches = 0;
  GhostQueue<Real> queue(context, particles, batch_of(options, particles.num, context.comm.size()));
  while (context.comm.max(Index{queue.is_empty() ? 0 : 1}) != 0) {
    ReceivedGhosts<Real> ghosts = exchange_ghosts(context, particles, queue.take());
    statistics.ghosts_sent += ghosts.plan.num_sent();
    statistics.ghosts_received += ghosts.num();
    statistics.max_ghosts_at_once = std::max(statistics.max_ghosts_at_once, ghosts.num());
    if (ghosts.num() == 0) continue;
    ++num_batches;
    const std::vector<GhostEdge> found = link_ghosts(context, particles, ghosts, options.leaf_size);
    edges.insert(edges.end(), found.begin(), found.end());
    sort_unique(edges);
  }
  if (num_batches > 1) take_roots(context.exec, particles, edges);
  statistics.edges = static_cast<Index>(edges.size());
  return share_edges(context, particles, edges);
}

ZHALO_FOR_REALS(link_across_ranks);

}  // namespace zhalo
