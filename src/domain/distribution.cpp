#include "src/domain/domain_state.hpp"

#include <numeric>
#include <optional>
#include <utility>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/redistribution.hpp"

namespace zhalo {
namespace {

/// Weight of all before each, in sorted order; empty without weights.
Buffer<Index> weights_before(const Context& context, const OptionalWeights& weight,
                             Span<const LocalIndex> order) {
  if (!weight) return {};
  Buffer<Index> before(context.exec, order.size() + 1, "weights in Z-order");
  const Index num_zero = kernels::on(context.exec, [&](const auto& e) {
    return kernels::accumulate_weights(e, *weight, order, before.span());
  });
  validate(num_zero == 0, "{} particles have weight 0 (must be at least 1)", num_zero);
  return before;
}

/// Of `num` particles that this rank brought. Collective.
template <class Real>
Distribution<Real> of_brought(const Context& context, Index num) {
  Distribution<Real> result;
  result.num_brought = num;
  result.first_index = context.comm.all_gather(global_range(context.comm, num).first);
  return result;
}

/// On one rank nothing travels: the order of sorting is all there is.
template <class Real>
Distribution<Real> keep(const Context& context, SortedColumns<Real> local) {
  const Index num = local.order.size();
  Distribution<Real> result = of_brought<Real>(context, num);
  result.redistribution = Redistribution({{0, num}, {0, num}}, std::move(local.order));
  result.sorted = std::move(local);
  return result;
}

template <class Real>
using Records = Buffer<kernels::PositionRecord<Real>>;

/// What came, in the order of ranks. What was sent is gone then, but for its order.
template <class Real>
Records<Real> send(const Context& context, Records<Real> records, const ExchangePlan& plan,
                   Buffer<LocalIndex>& sent) {
  const Exec& exec = context.exec;
  sent = Buffer<LocalIndex>(exec, records.size(), "indices of particles");
  kernels::on(exec, [&](const auto& e) {
    kernels::take_indices(e, Span<const kernels::PositionRecord<Real>>(records.span()),
                          sent.span());
  });
  Records<Real> received(exec, plan.num_received(), "positions received");
  context.comm.exchange(exec, plan, {{column_view(records), received.data()}});
  return received;
}

/// Sends positions, and sorts what came, by keys that are made again.
template <class Real>
void exchange(const Context& context, kernels::DepartingPositions<Real> departing,
              const ExchangePlan& plan, Distribution<Real>& result) {
  const Exec& exec = context.exec;
  const Index num = plan.num_received();
  validate(num <= max_local_particles,
           "a rank would hold {} particles, the most is {}; use more ranks", num,
           max_local_particles);
  departing.keys = {};
  Buffer<LocalIndex> sent;
  kernels::ArrivedPositions<Real> arrived;
  arrived.records = send(context, std::move(departing.records), plan, sent);
  arrived.first_of_run = plan.receive_offset;
  arrived.num_low_bits = departing.num_low_bits;
  const auto offsets = to_exec(exec, Span<const Index>(plan.receive_offset), "ranks of particles");
  const auto firsts = to_exec(exec, Span<const Index>(result.first_index), "ranks of particles");
  arrived.sources = {offsets.span(), firsts.span()};
  result.global_index = Buffer<Index>(exec, num, "global indices");
  result.sorted = kernels::on(exec, [&](const auto& e) {
    return kernels::sort_arrived(e, std::move(arrived), departing.frame,
                                 result.global_index.span());
  });
  synchronise(exec);
  result.redistribution = Redistribution(plan, std::move(sent), std::move(result.sorted.order));
}

/// Some of the sorted particles, by the rank that they came from.
struct ByOrigin {
  Buffer<LocalIndex> order;   ///< their indices, rank by rank, ascending
  Buffer<LocalIndex> wanted;  ///< index of each on its rank, in that order
  std::vector<Index> counts;  ///< of each rank
};

/// The sorted particles of one part.
template <class Real>
ByOrigin sort_by_origin(const Exec& exec, const Distribution<Real>& particles, const Share& part) {
  const Redistribution& redistribution = particles.redistribution;
  const std::vector<Index>& offset = redistribution.plan().receive_offset;
  const auto offsets = to_exec(exec, Span<const Index>(offset), "ranks of particles");
  const auto firsts = to_exec(exec, Span<const Index>(particles.first_index), "ranks of particles");
  Buffer<std::uint64_t> rank(exec, part.count, "origins of particles");
  Buffer<LocalIndex> index(exec, part.count, "origins of particles");
  kernels::on(exec, [&](const auto& e) {
    kernels::find_origins(e, {offsets.span(), firsts.span()},
                          redistribution.arrived().subspan(part.first, part.count),
                          particles.global_index.span().subspan(part.first, part.count),
                          {rank.span(), index.span()});
  });
  const int num_ranks = static_cast<int>(offset.size()) - 1;
  ByOrigin result;
  result.order = sort_indices(exec, rank.span(), bits_for(num_ranks - 1));
  result.counts = count_ranks(exec, rank.span(), num_ranks);
  result.wanted = Buffer<LocalIndex>(exec, part.count, "indices of a part");
  kernels::on(exec, [&](const auto& e) {
    kernels::gather(e, column_view(index), result.order.span(), result.wanted.data());
  });
  return result;
}

/// With more, most of the groups of a coarse sort would have a cut in them.
constexpr int max_ranks_of_coarse_sort = 256;

/// On several ranks.
template <class Real>
Distribution<Real> distribute_records(const Context& context,
                                      kernels::DepartingPositions<Real> departing,
                                      const ExchangePlan& plan) {
  const PhaseTimer timer(context, "distribute");
  Distribution<Real> result = of_brought<Real>(context, departing.records.size());
  exchange(context, std::move(departing), plan, result);
  result.first = context.comm.exclusive_sum(result.num());
  synchronise(context.exec);
  return result;
}

/// What a rank sends is sorted where it goes. So here it is sorted no further than the cuts need.
template <class Real>
Distribution<Real> distribute_coarsely_sorted(const Context& context,
                                              const kernels::ParticlesView<Real>& particles,
                                              const kernels::KeyFrame& frame) {
  const Communicator& comm = context.comm;
  const Index num_usual = comm.sum(particles.num) / comm.size();
  std::optional<PhaseTimer> timer(std::in_place, context, "sort");
  kernels::DepartingPositions<Real> departing = kernels::on(context.exec, [&](const auto& e) {
    return kernels::sort_coarsely(e, particles, frame, num_usual);
  });
  const auto keys = [&] {
    return SortedKeys{departing.keys.span(), frame.key_bits(), {}, departing.num_before.span()};
  };
  const std::vector<std::uint64_t> cuts = keys_of_cuts(context, keys());
  kernels::on(context.exec, [&](const auto& e) { kernels::sort_around(e, cuts, departing); });
  const ExchangePlan plan = plan_even_parts(context, keys());
  timer.reset();
  return distribute_records(context, std::move(departing), plan);
}

/// inverse[order[i]] = i.
Buffer<LocalIndex> inverse_of(const Exec& exec, const Buffer<LocalIndex>& order) {
  Buffer<LocalIndex> numbers(exec, order.size(), "indices of a part");
  Buffer<LocalIndex> inverse(exec, order.size(), "indices of a part");
  kernels::on(exec, [&](const auto& e) {
    kernels::number(e, numbers.span());
    kernels::scatter(e, column_view(numbers), order.span(), inverse.data());
  });
  return inverse;
}

}  // namespace

template <class Real>
Distribution<Real> distribute_particles(const Context& context,
                                        const kernels::ParticlesView<Real>& particles,
                                        const kernels::KeyFrame& frame,
                                        const OptionalWeights& weight) {
  const int num_ranks = context.comm.size();
  if (num_ranks > 1 && num_ranks <= max_ranks_of_coarse_sort && !weight)
    return distribute_coarsely_sorted(context, particles, frame);
  SortedColumns<Real> local = sort_particles(context, particles, frame);
  const Buffer<Index> weights = weights_before(context, weight, local.order.span());
  if (num_ranks == 1) return distribute_sorted(context, std::move(local), {});
  const ExchangePlan plan =
      plan_even_parts(context, {local.keys.span(), frame.key_bits(), weights.span()});
  return distribute_sorted(context, std::move(local), plan);
}

template <class Real>
Distribution<Real> distribute_sorted(const Context& context, SortedColumns<Real> local,
                                     const ExchangePlan& plan) {
  if (context.comm.size() == 1) return keep(context, std::move(local));
  kernels::DepartingPositions<Real> departing = kernels::on(
      context.exec, [&](const auto& e) { return kernels::make_records(e, std::move(local)); });
  return distribute_records(context, std::move(departing), plan);
}

template <class Real>
Redistribution redistribution_of(const Context& context, const Distribution<Real>& particles,
                                 Index first, Index num) {
  const Exec& exec = context.exec;
  const Redistribution& all = particles.redistribution;
  if (context.comm.size() == 1)
    return Redistribution({{0, num}, {0, num}},
                          to_exec(exec, all.sent().subspan(first, num), "indices of a part"));
  const ByOrigin by_origin = sort_by_origin(exec, particles, {first, num});
  const ExchangePlan asking = context.comm.plan_exchange(by_origin.counts);
  Buffer<LocalIndex> sent(exec, asking.num_received(), "indices of a part");
  context.comm.exchange(exec, asking, by_origin.wanted.span(), sent.span());
  return Redistribution(asking.reversed(), std::move(sent), inverse_of(exec, by_origin.order));
}

ZHALO_FOR_REALS(distribute_particles);
ZHALO_FOR_REALS(distribute_sorted);
ZHALO_FOR_REALS(redistribution_of);

}  // namespace zhalo
