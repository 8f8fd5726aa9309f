#include "src/mesh/painting.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/on.hpp"
#include "kernels/sort.hpp"
#include "src/core/instantiate.hpp"
#include "src/domain/positions.hpp"
#include "src/domain/redistribution.hpp"

namespace zhalo {
namespace {

/// The rows and columns of ranks by cell, in memory of the Exec.
class OwnerTables {
 public:
  OwnerTables(const Exec& exec, const Decomposition& decomposition)
      : num_columns_(decomposition.shape()[1]) {
    const GridIndex num = decomposition.grid().num;
    std::vector<LocalIndex> row(static_cast<std::size_t>(num[0]));
    std::vector<LocalIndex> column(static_cast<std::size_t>(num[1]));
    for (int r = 0; r < decomposition.num_ranks(); ++r) {
      const IndexBox cells = decomposition.cells(r);
      std::fill(row.begin() + cells.lo[0], row.begin() + cells.hi[0],
                static_cast<LocalIndex>(decomposition.row_of(r)));
      std::fill(column.begin() + cells.lo[1], column.begin() + cells.hi[1],
                static_cast<LocalIndex>(decomposition.column_of(r)));
    }
    row_ = to_exec(exec, Span<const LocalIndex>(row), "rows of ranks");
    column_ = to_exec(exec, Span<const LocalIndex>(column), "columns of ranks");
  }
  kernels::CellOwners view() const { return {row_.span(), column_.span(), num_columns_}; }

 private:
  Index num_columns_;
  Buffer<LocalIndex> row_;
  Buffer<LocalIndex> column_;
};

/// Columns of particles under way.
template <class Real>
struct Columns {
  Buffer<Real> pos[3];
  Buffer<double> fixed_weight;

  Columns(const Exec& exec, Index num, bool with_weights) {
    for (auto& axis : pos) axis = Buffer<Real>(exec, num, "positions on their way to cells");
    if (with_weights) fixed_weight = Buffer<double>(exec, num, "weights on their way to cells");
  }
  kernels::PaintedColumns<Real> view() {
    return {{pos[0].span(), pos[1].span(), pos[2].span()}, fixed_weight.span()};
  }
};

template <class Real>
class Router {
 public:
  Router(const Context& context, const Decomposition& decomposition, const Route<Real>& route)
      : context_(context),
        route_(route),
        num_ranks_(decomposition.num_ranks()),
        owners_(context.exec, decomposition) {}

  void send(Index first, Index num,
            const std::function<void(const RoutedPart<Real>&)>& visit) const {
    const Exec& exec = context_.exec;
    Buffer<std::uint64_t> keys(exec, num, "ranks of particles");
    const kernels::OwnerSearch<Real> search{route_.painted.particles, route_.cells, owners_.view(),
                                            first};
    kernels::on(exec, [&](const auto& e) { kernels::find_owners(e, search, keys.span()); });
    const Buffer<LocalIndex> at = sort_indices(
        exec, keys.span(), static_cast<int>(std::bit_width(static_cast<unsigned>(num_ranks_))));

    const std::vector<Index> counts = count_ranks(exec, keys.span(), num_ranks_);
    keys = {};
    // Where all send to one rank, it takes them in several turns.
    const Index max_received =
        context_.comm.max(context_.comm.plan_exchange(counts).num_received());
    const Index at_a_time = route_.limits.max_received;
    const Index num_turns = std::max<Index>(1, (max_received + at_a_time - 1) / at_a_time);
    for (Index turn = 0; turn < num_turns; ++turn)
      take_turn({turn, num_turns}, first, {at.span(), counts}, visit);
  }

 private:
  /// Of each rank's particles the share that goes in this turn.
  struct Turn {
    Index number = 0;
    Index of = 1;

    Index begin(Index count) const { return number * count / of; }
    Index end(Index count) const { return (number + 1) * count / of; }
  };
  /// All that this rank sends, by the rank that it goes to.
  struct Sorted {
    Span<const LocalIndex> at;
    const std::vector<Index>& counts;
  };

  void take_turn(const Turn& turn, Index first, const Sorted& sorted,
                 const std::function<void(const RoutedPart<Real>&)>& visit) const {
    const Exec& exec = context_.exec;
    std::vector<Index> counts;
    counts.reserve(sorted.counts.size());
    for (const Index count : sorted.counts) counts.push_back(turn.end(count) - turn.begin(count));
    const ExchangePlan plan = context_.comm.plan_exchange(counts);
    Buffer<LocalIndex> chosen(exec, plan.num_sent(), "particles of a turn");
    Index from = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (counts[r] > 0)
        queue_copy(exec, chosen.data() + plan.send_offset[r],
                   sorted.at.data() + from + turn.begin(sorted.counts[r]),
                   static_cast<std::size_t>(counts[r]) * sizeof(LocalIndex));
      from += sorted.counts[r];
    }
    RoutedPart<Real> part;
    part.redistribution = Redistribution(plan, std::move(chosen));
    part.first = first;
    Columns<Real> received(exec, plan.num_received(), route_.with_weights);
    exchange(part, received);
    const Buffer<kernels::SegmentView<Real>> segment =
        describe(received, plan.num_received(), part.painted);
    visit(part);
    synchronise(exec);
  }

  void exchange(const RoutedPart<Real>& part, Columns<Real>& received) const {
    const Span<const LocalIndex> at = part.redistribution.sent();
    Columns<Real> sent(context_.exec, at.size(), route_.with_weights);
    kernels::on(context_.exec, [&](const auto& e) {
      kernels::pack_painted(e, route_.painted, part.first, at, sent.view());
    });
    std::vector<Redistribution::Move> moves;
    for (std::size_t axis = 0; axis < 3; ++axis)
      moves.push_back({column_view(sent.pos[axis]), received.pos[axis].data(), true});
    if (route_.with_weights)
      moves.push_back({column_view(sent.fixed_weight), received.fixed_weight.data(), true});
    part.redistribution.forward(context_, moves);
  }

  /// The columns as particles, whose masses are the units.
  Buffer<kernels::SegmentView<Real>> describe(const Columns<Real>& columns, Index num,
                                              kernels::PaintInput<Real>& painted) const {
    std::vector<kernels::SegmentView<Real>> segment(1);
    segment[0].num = num;
    for (std::size_t axis = 0; axis < 3; ++axis) segment[0].pos[axis] = {columns.pos[axis].data()};
    if (route_.with_weights) segment[0].mass = columns.fixed_weight.data();
    auto uploaded = to_exec(context_.exec, Span<const kernels::SegmentView<Real>>(segment),
                            "table of particle segments");
    painted.particles.segments = uploaded.span();
    painted.particles.num = num;
    return uploaded;
  }

  const Context& context_;
  const Route<Real>& route_;
  int num_ranks_;
  OwnerTables owners_;
};

}  // namespace

template <class Real>
void for_each_routed(const Context& context, const Decomposition& decomposition,
                     const Route<Real>& route,
                     const std::function<void(const RoutedPart<Real>&)>& visit) {
  const Router<Real> router(context, decomposition, route);
  const Index num = route.painted.particles.num;
  const Index max_sent = route.limits.max_sent;
  const Index num_parts = context.comm.max((num + max_sent - 1) / max_sent);
  for (Index p = 0; p < num_parts; ++p) {
    const Index first = std::min(num, p * max_sent);
    router.send(first, std::min(max_sent, num - first), visit);
  }
}

ZHALO_FOR_REALS(for_each_routed);

}  // namespace zhalo
