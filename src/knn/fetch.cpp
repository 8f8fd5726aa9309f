#include "src/knn/row_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/knn.hpp"
#include "kernels/on.hpp"
#include "src/comm/exchange.hpp"
#include "src/core/instantiate.hpp"

namespace zhalo {

// Chunks of queries.

template <class Real>
Chunk Chunks<Real>::peek(Index max_queries, Index num_alike) {
  const Index rest = queries_.pos.num - next_.first_query;
  if (rest <= max_queries)
    return {next_.first_leaf, queries_.level_size[0] - next_.first_leaf, next_.first_query, rest};
  if (next_ahead_ == ahead_.size()) {
    Buffer<Chunk> chunks(exec_, 1 + num_alike, "chunks of queries");
    kernels::on(exec_, [&](const auto& e) {
      kernels::cut_queries(e, queries_, next_.first_leaf, max_queries, chunks.span());
    });
    ahead_ = to_host(exec_, chunks);
    next_ahead_ = 0;
  }
  return ahead_[next_ahead_];
}

template class Chunks<float>;
template class Chunks<double>;

// What a search is given.

namespace {

/// Columns of the caller's, in the order of the domain.
template <class Real>
void add_columns(const Context& context, const std::vector<ColumnView>& columns,
                 SearchInput<Real>& input) {
  const Distribution<Real>& particles = input.particles();
  std::vector<Redistribution::Move> moves;
  for (const ColumnView& column : columns) {
    const Index size = column.element_size;
    input.columns_of_ours.emplace_back(context.exec, particles.num() * size, "columns in Z-order");
    void* const to = input.columns_of_ours.back().data();
    moves.push_back({column, to});
    input.columns.push_back({to, particles.num(), size, 0});
  }
  if (!moves.empty()) particles.redistribution.forward(context, moves);
}

template <class Real>
void number_particles(SearchInput<Real>& input) {
  ensure_global_index(*input.domain, input.species.targets);
  ensure_global_index(*input.domain, input.species.queries);
}

}  // namespace

template <class Real>
SearchInput<Real> make_search_input(const Context& context, const KnnTargets<Real>& targets,
                                    const Box& box, const std::vector<ColumnView>& columns) {
  SearchInput<Real> input;
  input.species = targets.species;
  if (targets.domain != nullptr) {
    input.domain = targets.domain->state();
    for (const ColumnView& column : columns) {
      Buffer<std::byte>& packed = input.columns_of_ours.emplace_back();
      input.columns.push_back(without_gaps(context.exec, column, packed));
    }
    number_particles(input);
    return input;
  }
  std::vector<SpeciesInput<Real>> species{{*targets.particles}};
  if (targets.queries != nullptr) {
    species.push_back({*targets.queries, {"queries", "query"}, true});
    input.species.queries = 1;
  }
  input.domain = make_domain(context, species, box, {});
  number_particles(input);
  add_columns(context, columns, input);
  return input;
}

ZHALO_FOR_REALS(make_search_input);

// Particles that other ranks send.

namespace {

template <class Real>
kernels::CoarseBox box_of(const Ball<Real>& ball) {
  kernels::CoarseBox box;
  for (int axis = 0; axis < 3; ++axis) {
    box.lo[axis] = static_cast<double>(ball.lo[axis]);
    box.hi[axis] = static_cast<double>(ball.hi[axis]);
  }
  return box;
}

/// What rounding may do to distances in float.
constexpr double rounding = 1e-5;

/// The square of a distance as the searches compute it, at most: rounding changes it in proportion,
/// and across an edge by some units in the last place of the period.
template <class Real>
double squared_with_rounding(double distance, const Real (&periods)[3]) {
  double longest = 0;
  for (const Real period : periods)
    longest = std::isfinite(period) ? std::max(longest, static_cast<double>(period)) : longest;
  const double absolute = 8 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * longest;
  const double reach = distance * (1 + rounding) + absolute;
  return reach * reach + static_cast<double>(std::numeric_limits<Real>::min());
}

template <class Real>
OtherRanks other_ranks(const Context& context, const kernels::SearchView<Real>& search) {
  double period[3];
  std::copy(search.period, search.period + 3, period);
  return {context.comm.all_gather(coarse_boxes(context.exec, search.tree)), context.comm.rank(),
          period};
}

}  // namespace

template <class Real>
Fetcher<Real>::Fetcher(const Context& context, Distribution<Real>& particles,
                       const kernels::SearchView<Real>& search,
                       const std::vector<ColumnView>& columns)
    : context_(context),
      particles_(particles),
      search_(search),
      columns_(columns),
      others_(other_ranks(context, search)),
      hulls_(to_exec(context.exec, others_.hulls(), "boxes of other ranks")),
      group_hulls_(to_exec(context.exec, others_.group_hulls(), "boxes of other ranks")) {}

template <class Real>
std::vector<std::vector<Ball<Real>>> Fetcher<Real>::requests_of(
    const std::vector<Ball<Real>>& balls) const {
  std::vector<std::vector<Ball<Real>>> requests(static_cast<std::size_t>(others_.num_ranks()));
  for (const Ball<Real>& ball : balls) {
    const double reach = std::sqrt(static_cast<double>(ball.reach2));
    others_.for_each_near(
        box_of(ball), squared_with_rounding(reach, search_.period),
        [&](int rank) { requests[static_cast<std::size_t>(rank)].push_back(ball); });
  }
  return requests;
}

/// This rank's particles that another one asks for, ascending.
template <class Real>
Buffer<LocalIndex> Fetcher<Real>::select(const AskedBalls<Real>& asked, std::size_t rank) const {
  const Exec& exec = context_.exec;
  const std::vector<Index>& offset = asked.balls.plan.receive_offset;
  const auto balls = Span<const Ball<Real>>(asked.balls.elements)
                         .subspan(offset[rank], offset[rank + 1] - offset[rank]);
  if (balls.empty()) return {};
  const auto on_exec = to_exec(exec, balls, "balls of other ranks");
  kernels::BallsView<Real> view{search_.tree, on_exec.span(), {}};
  std::copy(search_.period, search_.period + 3, view.period);
  Buffer<LocalIndex> selected =
      kernels::on(exec, [&](const auto& e) { return kernels::select_in_balls(e, view); });
  synchronise(exec);
  return selected;
}

template <class Real>
AskedBalls<Real> Fetcher<Real>::ask(const std::vector<Ball<Real>>& balls, Index max_at_once) const {
  const Communicator& comm = context_.comm;
  // With a batch, the rank holds no more than there are local indices for. Smaller batches than
  // this would be too many.
  constexpr Index min_room = 1 << 16;
  const Index room = std::max(min_room, max_local_particles - particles_.num() - comm.size());
  const Index max_num = std::min(std::max({max_at_once, particles_.num(), Index{1}}), room);
  AskedBalls<Real> asked;
  asked.balls = exchanged(comm, requests_of(balls));
  std::vector<Index> counts;
  Index num_sent = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(comm.size()); ++rank) {
    asked.particles.push_back(select(asked, rank));
    counts.push_back(asked.particles.back().size());
    num_sent += counts.back();
    if (num_sent > max_num) asked.particles.back() = {};
  }
  asked.plan = comm.plan_exchange(counts);
  if (max_at_once == AskedBalls<Real>::all_at_once) return asked;
  const Index num = std::max(num_sent, asked.plan.num_received());
  asked.num_batches = comm.max(num > max_num ? (num - 1) / max_num + 1 : 1);
  return asked;
}

/// The particles of a batch, rank by rank, and how many go to each.
template <class Real>
Redistribution Fetcher<Real>::redistribution_of(const AskedBalls<Real>& asked, Index batch) const {
  const Exec& exec = context_.exec;
  const auto share = [&](std::size_t rank) {
    const std::vector<Index>& offset = asked.plan.send_offset;
    return share_of(offset[rank + 1] - offset[rank], static_cast<int>(batch),
                    static_cast<int>(asked.num_batches));
  };
  std::vector<Index> counts;
  for (std::size_t rank = 0; rank < asked.particles.size(); ++rank)
    counts.push_back(share(rank).count);
  Buffer<LocalIndex> selected(exec, std::reduce(counts.begin(), counts.end()),
                              "particles for other ranks");
  Index num = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] == 0) continue;
    Buffer<LocalIndex> again;
    if (asked.particles[rank].empty()) again = select(asked, rank);
    const Buffer<LocalIndex>& of_rank = again.empty() ? asked.particles[rank] : again;
    queue_copy(exec, selected.data() + num, of_rank.data() + share(rank).first,
               static_cast<std::size_t>(counts[rank]) * sizeof(LocalIndex));
    num += counts[rank];
  }
  ExchangePlan plan = asked.num_batches == 1 ? asked.plan : context_.comm.plan_exchange(counts);
  return Redistribution(std::move(plan), std::move(selected));
}

template <class Real>
FetchedTargets<Real> Fetcher<Real>::fetch(const AskedBalls<Real>& asked, Index batch,
                                          int leaf_size) const {
  const Redistribution redistribution = redistribution_of(asked, batch);
  const Index num = redistribution.num_received();
  FetchedTargets<Real> fetched;
  std::vector<Redistribution::Move> moves;
  const auto add = [&]<class T>(const Buffer<T>& from, Buffer<T>& to) {
    to = Buffer<T>(context_.exec, num, "particles of other ranks");
    moves.push_back({column_view(from), to.data()});
  };
  for (std::size_t axis = 0; axis < 3; ++axis) add(particles_.sorted.pos[axis], fetched.pos[axis]);
  add(particles_.global_index, fetched.global_index);
  for (const ColumnView& column : columns_) {
    fetched.columns.emplace_back(context_.exec, num * column.element_size,
                                 "particles of other ranks");
    moves.push_back({column, fetched.columns.back().data()});
  }
  redistribution.forward(context_, moves);
  const kernels::SortedPositions<Real> pos{
      {fetched.pos[0].data(), fetched.pos[1].data(), fetched.pos[2].data()}, fetched.num()};
  if (fetched.num() > 0) fetched.tree = std::make_unique<Tree<Real>>(context_, pos, leaf_size);
  return fetched;
}

template <class Real>
std::vector<Ball<Real>> Fetcher<Real>::balls_of(const kernels::SearchView<Real>& search,
                                                const Chunk& chunk,
                                                const kernels::BestRows<Real>& rows) const {
  const Exec& exec = context_.exec;
  const kernels::ReachingLeaves<Real> leaves{search, chunk.num_leaves, rows, hulls_.span(),
                                             group_hulls_.span()};
  return to_host(
      exec, kernels::on(exec, [&](const auto& e) { return kernels::select_balls(e, leaves); }));
}

namespace {

/// Whether a ball reaches much further than its queries and their neighbours extend where particles
/// are as dense as queries. Then what it touches may be far more than is needed.
template <class Real>
bool is_loose(const Ball<Real>& ball, Index k, int leaf_size) {
  double extent2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double extent = static_cast<double>(ball.hi[axis]) - static_cast<double>(ball.lo[axis]);
    extent2 += extent * extent;
  }
  const double share = 1 + static_cast<double>(k) / leaf_size;
  return static_cast<double>(ball.reach2) > 4 * extent2 * std::cbrt(share * share);
}

/// The middle of a ball's queries, and how far the furthest of them may be from it.
template <class Real>
struct Middle {
  std::array<Real, 3> point;
  double radius = 0;

  explicit Middle(const Ball<Real>& ball) {
    double radius2 = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      point[axis] = ball.lo[axis] + (ball.hi[axis] - ball.lo[axis]) / 2;
      const double middle = static_cast<double>(point[axis]);
      const double furthest = std::max(middle - static_cast<double>(ball.lo[axis]),
                                       static_cast<double>(ball.hi[axis]) - middle);
      radius2 += furthest * furthest;
    }
    radius = std::sqrt(radius2);
  }
};

}  // namespace

template <class Real>
void Fetcher<Real>::tighten(std::vector<Ball<Real>>& balls, const Needed& needed) const {
  const auto size = static_cast<std::size_t>(others_.num_ranks());
  std::vector<std::vector<std::array<Real, 3>>> questions(size);
  std::vector<std::vector<std::size_t>> asks(size);           // the balls that they are about
  const bool is_short = particles_.num() < needed.with_self;  // how far rows reach says nothing
  for (std::size_t i = 0; i < balls.size(); ++i) {
    Ball<Real>& ball = balls[i];
    if (!is_short && !is_loose(ball, needed.k, needed.leaf_size)) continue;
    OtherRanks::Bound bound = others_.nearest_with(box_of(ball), needed.k);
    if (bound.rank < 0) bound.distance2 = others_.reach_of(box_of(ball), needed.with_self);
    const double reach2 = squared_with_rounding(std::sqrt(bound.distance2), search_.period);
    ball.reach2 = std::min(ball.reach2, static_cast<Real>(reach2));
    if (bound.rank < 0) continue;
    questions[static_cast<std::size_t>(bound.rank)].push_back(Middle(ball).point);
    asks[static_cast<std::size_t>(bound.rank)].push_back(i);
  }
  const bool none =
      std::all_of(asks.begin(), asks.end(), [](const auto& of) { return of.empty(); });
  if (context_.comm.max(Index{none ? 0 : 1}) == 0) return;
  const Received<std::array<Real, 3>> asked = exchanged(context_.comm, questions);
  const std::vector<Real> distances =
      exchanged(context_.comm, asked.plan.reversed(), distances_from(asked.elements, needed));
  auto distance = distances.begin();
  for (const std::vector<std::size_t>& of_rank : asks) {
    for (const std::size_t i : of_rank) {
      const double reach = static_cast<double>(*distance++) + Middle(balls[i]).radius;
      const double reach2 = squared_with_rounding(reach, search_.period);
      balls[i].reach2 = std::min(balls[i].reach2, static_cast<Real>(reach2));
    }
  }
}

/// Of each point from its k-th nearest particle of this rank.
template <class Real>
std::vector<Real> Fetcher<Real>::distances_from(const std::vector<std::array<Real, 3>>& points,
                                                const Needed& needed) const {
  constexpr Index max_listed = Index{1} << 20;
  const Exec& exec = context_.exec;
  const Index k = needed.k;
  std::vector<Real> distances;
  for (Index first = 0; first < std::ssize(points);) {
    const Index num = std::min(std::ssize(points) - first, std::max<Index>(1, max_listed / k));
    Buffer<Real> pos[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::vector<Real> along;
      for (Index i = first; i < first + num; ++i)
        along.push_back(points[static_cast<std::size_t>(i)][axis]);
      pos[axis] = to_exec(exec, Span<const Real>(along), "questions of other ranks");
    }
    const Tree<Real> tree(context_, {{pos[0].data(), pos[1].data(), pos[2].data()}, num},
                          needed.leaf_size);
    Buffer<Real> distance2(exec, num * k, "answers to other ranks");
    Buffer<LocalIndex> index(exec, num * k, "answers to other ranks");
    Buffer<LocalIndex> count(exec, num, "answers to other ranks");
    kernels::SearchView<Real> search = search_;
    search.queries = tree.view();
    search.queries_are_particles = search.leave_out_self = false;
    search.reach2 = std::numeric_limits<Real>::infinity();
    const kernels::BestRows<Real> rows{k, distance2.data(), index.data(), count.data()};
    kernels::on(exec, [&](const auto& e) {
      kernels::find_nearest(e, search, tree.view().level_size[0], rows);
    });
    const std::vector<Real> all = to_host(exec, distance2);
    for (Index i = 1; i <= num; ++i)
      distances.push_back(std::sqrt(all[static_cast<std::size_t>(i * k - 1)]));
    first += num;
  }
  return distances;
}

template class Fetcher<float>;
template class Fetcher<double>;

}  // namespace zhalo
