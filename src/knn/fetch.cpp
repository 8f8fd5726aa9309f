#include "kernels/knn.hpp"
#include "kernels/on.hpp"
#include "src/comm/host_exchange.hpp"
#include "src/knn/row_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace zhalo {
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

/// Squared, of the two places of two boxes that are furthest from each other.
double largest_distance2(const kernels::CoarseBox& a, const kernels::CoarseBox& b,
                         const double (&period)[3]) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double direct = std::max(a.hi[axis] - b.lo[axis], b.hi[axis] - a.lo[axis]);
    const double d = std::min(direct, period[axis] / 2);
    sum += d * d;
  }
  return sum;
}

/// What rounding may do to distances in float.
constexpr double rounding = 1e-5;

/// How far a ball may reach at most as the searches compute distances: in proportion, and across an
/// edge by some units in the last place of the period.
template <class Real>
double reach_with_rounding(const Ball<Real>& ball, const ReachedBoxes& space) {
  double longest = 0;
  for (const double period : space.period)
    longest = std::isfinite(period) ? std::max(longest, period) : longest;
  const double absolute = 8 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * longest;
  const double reach = std::sqrt(static_cast<double>(ball.reach2)) * (1 + rounding) + absolute;
  return reach * reach + static_cast<double>(std::numeric_limits<Real>::min());
}

}  // namespace

template <class Real>
Fetcher<Real>::Fetcher(const Context& context, Distribution<Real>& particles,
                       const kernels::SearchView<Real>& search,
                       const std::vector<ColumnView>& columns)
    : context_(context), particles_(particles), search_(search), columns_(columns) {
  boxes_ = context.comm.all_gather(coarse_boxes(context.exec, search.tree));
  std::vector<kernels::CoarseBox> hulls;
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
    if (static_cast<int>(rank) != context.comm.rank() && boxes_[rank].num > 0)
      hulls.push_back(boxes_[rank].around_all());
  }
  hulls_ = to_exec(context.exec, Span<const kernels::CoarseBox>(hulls), "boxes of other ranks");
  for (int axis = 0; axis < 3; ++axis)
    reached_.period[axis] = static_cast<double>(search.period[axis]);
}

template <class Real>
Real Fetcher<Real>::reach_of(const Ball<Real>& ball, Index num) const {
  struct Counted {
    double distance2;
    Index count;
  };
  std::vector<Counted> all;
  const kernels::CoarseBox box = box_of(ball);
  for (const CoarseBoxes& boxes : boxes_) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(boxes.num); ++i)
      all.push_back({largest_distance2(box, boxes.box[i], reached_.period), boxes.count[i]});
  }
  std::sort(all.begin(), all.end(),
            [](const Counted& a, const Counted& b) { return a.distance2 < b.distance2; });
  Index count = 0;
  for (const Counted& one : all) {
    count += one.count;
    if (count >= num)
      return static_cast<Real>(one.distance2 * (1 + rounding)) + std::numeric_limits<Real>::min();
  }
  return std::numeric_limits<Real>::infinity();
}

template <class Real>
std::vector<std::vector<Ball<Real>>> Fetcher<Real>::requests_of(
    const std::vector<Ball<Real>>& balls) const {
  std::vector<std::vector<Ball<Real>>> requests(boxes_.size());
  for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
    if (static_cast<int>(rank) == context_.comm.rank() || boxes_[rank].num == 0) continue;
    const kernels::CoarseBox hull = boxes_[rank].around_all();
    for (const Ball<Real>& ball : balls) {
      ReachedBoxes reach = reached_;
      reach.reach2 = reach_with_rounding(ball, reached_);
      if (!is_within(box_of(ball), hull, reach)) continue;
      const auto boxes = boxes_[rank].span();
      const bool near = std::any_of(boxes.begin(), boxes.end(), [&](const auto& box) {
        return is_within(box_of(ball), box, reach);
      });
      if (near) requests[rank].push_back(ball);
    }
  }
  return requests;
}

/// This rank's particles that the others ask for, rank by rank.
template <class Real>
Buffer<LocalIndex> Fetcher<Real>::select(const std::vector<Ball<Real>>& balls,
                                         const ExchangePlan& plan,
                                         std::vector<Index>& counts) const {
  const Exec& exec = context_.exec;
  std::vector<Buffer<LocalIndex>> parts;
  Index num = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const Index first = plan.receive_offset[rank];
    const Index asked = plan.receive_offset[rank + 1] - first;
    if (asked == 0) continue;
    const auto on_exec =
        to_exec(exec, Span<const Ball<Real>>(balls).subspan(first, asked), "balls of other ranks");
    kernels::BallsView<Real> view{search_.tree, on_exec.span(), {}};
    std::copy(search_.period, search_.period + 3, view.period);
    parts.push_back(
        kernels::on(exec, [&](const auto& e) { return kernels::select_in_balls(e, view); }));
    synchronise(exec);
    counts[rank] = parts.back().size();
    num += counts[rank];
  }
  Buffer<LocalIndex> selected(exec, num, "particles for other ranks");
  Index at = 0;
  for (const Buffer<LocalIndex>& part : parts) {
    queue_copy(exec, selected.data() + at, part.data(),
               static_cast<std::size_t>(part.size()) * sizeof(LocalIndex));
    at += part.size();
  }
  return selected;
}

template <class Real>
FetchedTargets<Real> Fetcher<Real>::fetch(const std::vector<Ball<Real>>& balls,
                                          int leaf_size) const {
  const Communicator& comm = context_.comm;
  const Received<Ball<Real>> asked = exchanged(comm, requests_of(balls));
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()));
  Buffer<LocalIndex> selected = select(asked.elements, asked.plan, counts);
  const Redistribution redistribution(comm.plan_exchange(counts), std::move(selected));
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
  const kernels::ReachingLeaves<Real> leaves{search, chunk.num_leaves, rows, hulls_.span()};
  return to_host(
      exec, kernels::on(exec, [&](const auto& e) { return kernels::select_balls(e, leaves); }));
}

template class Fetcher<float>;
template class Fetcher<double>;

}  // namespace zhalo
