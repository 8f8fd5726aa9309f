#include "src/domain/distribution.hpp"

#include <utility>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/core/synchronise.hpp"
#include "src/core/validate.hpp"
#include "src/domain/balance.hpp"

namespace zhalo {
namespace {

/// Weight of all before each, in sorted order; empty without weights.
Buffer<Index> weights_before(const Context& context, const Strided<std::uint32_t>& weight,
                             Span<const LocalIndex> order) {
  if (!weight) return {};
  Buffer<Index> before(context.exec, order.size() + 1, "weights in Z-order");
  const Index num_zero = kernels::on(context.exec, [&](const auto& e) {
    return kernels::accumulate_weights(e, weight, order, before.span());
  });
  validate(num_zero == 0, "{} particles have weight 0 (must be at least 1)", num_zero);
  return before;
}

/// The caller's columns in the order of sending, and room for what comes.
class TravellingColumns {
 public:
  TravellingColumns(const Exec& exec, const std::vector<TravellingColumn>& columns,
                    Span<const LocalIndex> order) {
    for (const TravellingColumn& column : columns) {
      validate(column.element_size > 0, "a travelling column has elements of {} bytes",
               column.element_size);
      validate(column.data != nullptr || order.empty(), "a travelling column has no memory");
      sizes_.push_back(column.element_size);
      sent_.emplace_back(exec, order.size() * column.element_size, "columns to send");
      const kernels::MovedColumn moved{column.data, sent_.back().data(), column.element_size,
                                       column.stride_bytes};
      kernels::on(exec, [&](const auto& e) { kernels::gather(e, moved, order); });
    }
  }

  void add_to(const Exec& exec, Index num_received, std::vector<ExchangeColumn>& exchanged) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      received_.emplace_back(exec, num_received * sizes_[i], "columns received");
      exchanged.push_back({sent_[i].data(), received_[i].data(), sizes_[i]});
    }
  }

  std::vector<Buffer<std::byte>> sorted(const Exec& exec, Span<const LocalIndex> order) {
    std::vector<Buffer<std::byte>> result;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      sent_[i] = {};
      result.emplace_back(exec, order.size() * sizes_[i], "columns in Z-order");
      const kernels::MovedColumn moved{received_[i].data(), result.back().data(), sizes_[i]};
      kernels::on(exec, [&](const auto& e) { kernels::gather(e, moved, order); });
      received_[i] = {};
    }
    return result;
  }

 private:
  std::vector<Index> sizes_;
  std::vector<Buffer<std::byte>> sent_;
  std::vector<Buffer<std::byte>> received_;
};

/// What came, in the order of ranks.
template <class Real>
struct Received {
  Buffer<std::uint64_t> keys;
  Buffer<Real> pos[3];
  Buffer<LocalIndex> place;  ///< in its rank's own order

  Received(const Exec& exec, Index num)
      : keys(exec, num, "keys received"), place(exec, num, "places received") {
    for (auto& axis : pos) axis = Buffer<Real>(exec, num, "positions received");
  }
};

template <class Real>
std::vector<ExchangeColumn> columns_of(const SortedParticles<Real>& sent,
                                       Received<Real>& received) {
  std::vector<ExchangeColumn> columns{
      {sent.keys.data(), received.keys.data(), sizeof(std::uint64_t)},
      {sent.order.data(), received.place.data(), sizeof(LocalIndex)}};
  const auto axes = static_cast<std::size_t>(sent.frame.box.dimensions);
  for (std::size_t axis = 0; axis < axes; ++axis)
    columns.push_back({sent.pos[axis].data(), received.pos[axis].data(), sizeof(Real)});
  return columns;
}

/// Brings received coordinates into sorted order. A missing third axis is 0.
template <class Real>
void arrange(const Exec& exec, Received<Real>& received, SortedParticles<Real>& sorted) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sorted.pos[axis] = Buffer<Real>(exec, sorted.order.size(), "sorted positions");
    const bool exists = axis < static_cast<std::size_t>(sorted.frame.box.dimensions);
    const kernels::MovedColumn moved{received.pos[axis].data(), sorted.pos[axis].data(),
                                     sizeof(Real)};
    kernels::on(exec, [&](const auto& e) {
      if (exists) return kernels::gather(e, moved, Span<const LocalIndex>(sorted.order.span()));
      kernels::clear(e, sorted.pos[axis].span());
    });
    received.pos[axis] = {};
  }
}

/// Where sorted particles lay among what was received, and in their rank's own order.
struct SortedSources {
  Index first_index = 0;  ///< global index of the first particle that this rank brought
  Span<const LocalIndex> place;
  Span<const LocalIndex> order;
};

/// Global index of each sorted particle, from the rank that it came from and its place there.
Buffer<Index> global_indices(const Context& context, const ExchangePlan& plan,
                             const SortedSources& sorted) {
  const std::vector<Index> first = context.comm.all_gather(sorted.first_index);
  const auto offsets =
      to_exec(context.exec, Span<const Index>(plan.receive_offset), "ranks of particles");
  const auto firsts = to_exec(context.exec, Span<const Index>(first), "ranks of particles");
  Buffer<Index> result(context.exec, sorted.order.size(), "global indices");
  const kernels::SourcesView sources{offsets.span(), firsts.span()};
  kernels::on(context.exec, [&](const auto& e) {
    kernels::find_global(e, sources, sorted.place, sorted.order, result.span());
  });
  synchronise(context.exec);
  return result;
}

}  // namespace

template <class Real>
DistributedParticles<Real> distribute_particles(const Context& context,
                                                const kernels::ParticlesView<Real>& particles,
                                                const kernels::KeyFrame& frame,
                                                const DistributionOptions& options) {
  SortedParticles<Real> local = sort_particles(context, particles, frame);
  const Buffer<Index> weights = weights_before(context, options.weight, local.order.span());
  const ExchangePlan plan =
      plan_even_parts(context, {local.keys.span(), frame.key_bits(), weights.span()});
  return distribute_sorted(context, std::move(local), plan, options.columns);
}

template <class Real>
DistributedParticles<Real> distribute_sorted(const Context& context, SortedParticles<Real> local,
                                             const ExchangePlan& plan,
                                             const std::vector<TravellingColumn>& travelling) {
  const Exec& exec = context.exec;
  const PhaseTimer timer(context, "distribute");
  const kernels::KeyFrame frame = local.frame;
  const Index num_brought = local.order.size();
  DistributedParticles<Real> result;
  result.plan = plan;
  const Index num = result.plan.num_received();
  validate(num <= max_local_particles,
           "a rank would hold {} particles, the most is {}; use more ranks", num,
           max_local_particles);
  TravellingColumns columns(exec, travelling, local.order.span());
  Received<Real> received(exec, num);
  std::vector<ExchangeColumn> exchanged = columns_of(local, received);
  columns.add_to(exec, num, exchanged);
  context.comm.exchange(exec, result.plan, exchanged);
  result.sent = std::move(local.order);
  local.keys = {};
  for (auto& axis : local.pos) axis = {};

  SortedParticles<Real>& sorted = result.sorted;
  sorted.frame = frame;
  sorted.order = sort_indices(exec, received.keys.span(), frame.key_bits());
  sorted.keys = std::move(received.keys);
  const GlobalRange range = global_range(context.comm, num_brought);
  result.global_index = global_indices(context, result.plan,
                                       {range.first, received.place.span(), sorted.order.span()});
  received.place = {};
  arrange(exec, received, sorted);
  result.columns = columns.sorted(exec, sorted.order.span());
  result.first = context.comm.exclusive_sum(num);
  synchronise(exec);
  return result;
}

template <class Real>
void send_back(const Context& context, const DistributedParticles<Real>& particles,
               const ReturnedColumn& column) {
  Buffer<std::byte> back(context.exec, particles.sent.size() * column.element_size,
                         "results on their way back");
  context.comm.exchange(context.exec, particles.plan.reversed(),
                        {{column.from, back.data(), column.element_size}});
  const kernels::MovedColumn moved{back.data(), column.to, column.element_size};
  kernels::on(context.exec,
              [&](const auto& e) { kernels::scatter(e, moved, particles.sent.span()); });
  synchronise(context.exec);
}

template DistributedParticles<float> distribute_particles(const Context&,
                                                          const kernels::ParticlesView<float>&,
                                                          const kernels::KeyFrame&,
                                                          const DistributionOptions&);
template DistributedParticles<double> distribute_particles(const Context&,
                                                           const kernels::ParticlesView<double>&,
                                                           const kernels::KeyFrame&,
                                                           const DistributionOptions&);
template DistributedParticles<float> distribute_sorted(const Context&, SortedParticles<float>,
                                                       const ExchangePlan&,
                                                       const std::vector<TravellingColumn>&);
template DistributedParticles<double> distribute_sorted(const Context&, SortedParticles<double>,
                                                        const ExchangePlan&,
                                                        const std::vector<TravellingColumn>&);
template void send_back(const Context&, const DistributedParticles<float>&, const ReturnedColumn&);
template void send_back(const Context&, const DistributedParticles<double>&, const ReturnedColumn&);

}  // namespace zhalo
