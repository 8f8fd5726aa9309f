#include "src/domain/redistribution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/sort.hpp"
#include "src/core/validate.hpp"

namespace zhalo {
namespace {

void gather(const Exec& exec, const ColumnView& from, Span<const LocalIndex> at, void* to) {
  kernels::on(exec, [&](const auto& e) { kernels::gather(e, from, at, to); });
}

void scatter(const Exec& exec, const ColumnView& from, Span<const LocalIndex> at, void* to) {
  kernels::on(exec, [&](const auto& e) { kernels::scatter(e, from, at, to); });
}

void copy(const Exec& exec, const ColumnView& from, void* to) {
  queue_copy(exec, to, from.data, static_cast<std::size_t>(from.num * from.element_size));
}

Buffer<std::byte> room_for(const Exec& exec, Index num, const ColumnView& column) {
  return {exec, num * column.element_size, "columns under way"};
}

}  // namespace

ColumnView without_gaps(const Exec& exec, const ColumnView& column, Buffer<std::byte>& packed) {
  if (column.stride_bytes == 0 || column.stride_bytes == column.element_size) return column;
  packed = Buffer<std::byte>(exec, column.num * column.element_size, "a column without gaps");
  Buffer<LocalIndex> all(exec, column.num, "indices of a column");
  kernels::on(exec, [&](const auto& e) {
    kernels::number(e, all.span());
    kernels::gather(e, column, Span<const LocalIndex>(all.span()), packed.data());
  });
  return {packed.data(), column.num, column.element_size, 0};
}

Redistribution::Redistribution(ExchangePlan plan, Indices sent, Indices arrived)
    : plan_(std::move(plan)), sent_(std::move(sent)), arrived_(std::move(arrived)) {}

Redistribution::Own Redistribution::own_of(const Context& context) const {
  const auto rank = static_cast<std::size_t>(stays_on_rank() ? 0 : context.comm.rank());
  Own own{{plan_.send_offset[rank], 0}, {plan_.receive_offset[rank], 0}};
  own.sent.count = own.arrived.count = plan_.send_offset[rank + 1] - own.sent.first;
  return own;
}

ColumnMove Redistribution::pack(const Context& context, const Move& move, const Indices& sent,
                                Workspace& workspace) const {
  const Exec& exec = context.exec;
  const bool is_gathered = sent && !move.is_packed;
  ColumnMove column{move.from, move.to};
  if (arrived_ && (is_gathered || !stays_on_rank()))
    column.to = (workspace.received = room_for(exec, num_received(), move.from)).data();
  if (!is_gathered) return column;
  const Index size = move.from.element_size;
  const Own own = own_of(context);
  const auto gather_part = [&](Index first, Index last, void* to, Index first_to) {
    gather(exec, move.from, sent->span().subspan(first, last - first),
           static_cast<std::byte*>(to) + first_to * size);
  };
  const Index behind = own.sent.first + own.sent.count;
  gather_part(own.sent.first, behind, column.to, own.arrived.first);
  if (!stays_on_rank()) {
    workspace.sent = room_for(exec, plan_.num_sent(), move.from);
    gather_part(0, own.sent.first, workspace.sent.data(), 0);
    gather_part(behind, plan_.num_sent(), workspace.sent.data(), behind);
  }
  return {{workspace.sent.data(), plan_.num_sent(), size, 0}, column.to, true};
}

void Redistribution::forward(const Context& context, const std::vector<Move>& moves) const {
  forward_sent(context, moves, sent_);
}

void Redistribution::forward_sent(const Context& context, const std::vector<Move>& moves,
                                  const Indices& sent) const {
  std::vector<Workspace> workspace(moves.size());
  std::vector<ColumnMove> columns;
  for (std::size_t i = 0; i < moves.size(); ++i)
    columns.push_back(pack(context, moves[i], sent, workspace[i]));
  if (!stays_on_rank()) context.comm.exchange(context.exec, plan_, columns);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    workspace[i].sent = {};
    const bool has_moved = !stays_on_rank() || columns[i].leaves_own;
    const void* came = has_moved ? columns[i].to : columns[i].from.data;
    const ColumnView arriving{came, num_received(), move.from.element_size, 0};
    if (arrived_) {
      gather(context.exec, arriving, arrived_->span(), move.to);
    } else if (came != move.to) {
      copy(context.exec, arriving, move.to);
    }
    workspace[i].received = {};
  }
  if (!stays_on_rank()) synchronise(context.exec);
}

void Redistribution::forward_through(const Context& context, const Redistribution& next,
                                     const ColumnView& from, void* to) const {
  const Exec& exec = context.exec;
  const bool only_sent = stays_on_rank() && sent_ && !arrived_;
  if (!next.sent_ || !(only_sent || (!stays_on_rank() && arrived_))) {
    Buffer<std::byte> between = room_for(exec, num_received(), from);
    forward(context, {{from, between.data()}});
    return next.forward(context, {{{between.data(), num_received(), from.element_size, 0}, to}});
  }
  Indices sent(std::in_place, exec, next.sent_->size(), "the order of columns");
  gather(exec, column_view(only_sent ? *sent_ : *arrived_), next.sent_->span(), sent->data());
  if (only_sent) return next.forward_sent(context, {{from, to}}, sent);
  Workspace workspace;
  const ColumnMove column = pack(context, {from, nullptr}, sent_, workspace);
  context.comm.exchange(context.exec, plan_, {column});
  workspace.sent = {};
  next.forward_sent(context, {{{column.to, num_received(), from.element_size, 0}, to}}, sent);
}

void Redistribution::backward(const Context& context, const Move& move) const {
  if (!arrived_) return backward_as_arrived(context, move);
  Buffer<std::byte> unordered = room_for(context.exec, num_received(), move.from);
  scatter(context.exec, move.from, arrived_->span(), unordered.data());
  backward_as_arrived(context,
                      {{unordered.data(), num_received(), move.from.element_size, 0}, move.to});
}

void Redistribution::backward_as_arrived(const Context& context, const Move& move) const {
  const Exec& exec = context.exec;
  const ExchangePlan back = plan_.reversed();
  if (!sent_ && stays_on_rank()) {
    if (move.from.data != move.to) copy(exec, move.from, move.to);
    return;
  }
  if (!sent_) return context.comm.exchange(exec, back, {{move.from, move.to}});
  const Index size = move.from.element_size;
  const Own own = own_of(context);
  const auto scatter_part = [&](Index first, Index last, const void* from, Index first_from) {
    const auto* data = static_cast<const std::byte*>(from) + first_from * size;
    scatter(exec, {data, last - first, size, 0}, sent_->span().subspan(first, last - first),
            move.to);
  };
  const Index behind = own.sent.first + own.sent.count;
  scatter_part(own.sent.first, behind, move.from.data, own.arrived.first);
  if (stays_on_rank()) return;
  Buffer<std::byte> others = room_for(exec, plan_.num_sent(), move.from);
  context.comm.exchange(exec, back, {{move.from, others.data(), true}});
  scatter_part(0, own.sent.first, others.data(), 0);
  scatter_part(behind, plan_.num_sent(), others.data(), behind);
  synchronise(exec);
}

// One order over all ranks, in even parts.

namespace {

constexpr int bits_per_round = 4;

/// Weight (or number) of the elements before each key; empty if each key is one.
Span<const Index> before_keys(const SortedKeys& sorted) {
  return sorted.num_before.empty() ? sorted.weight_before : sorted.num_before;
}

/// Weight (or number) of all elements of this rank.
Index weight_of(const Exec& exec, const SortedKeys& sorted) {
  const Index num = sorted.keys.size();
  const Span<const Index> before = before_keys(sorted);
  return before.empty() ? num : to_host(exec, before.subspan(num, 1)).front();
}

/// Weight (or number) of this rank's elements with keys below each probe.
std::vector<Index> weights_below(const Exec& exec, const SortedKeys& sorted,
                                 const std::vector<std::uint64_t>& probes) {
  const auto on_exec = to_exec(exec, Span<const std::uint64_t>(probes), "keys to cut at");
  Buffer<Index> weight(exec, on_exec.size(), "weights below keys");
  const kernels::KeyWeights of_keys{sorted.keys, before_keys(sorted)};
  kernels::on(exec, [&](const auto& e) {
    kernels::weigh_below(e, of_keys, on_exec.span(), weight.span());
  });
  return to_host(exec, weight);
}

/// For each target the largest key with no more than that weight below it, over all ranks.
std::vector<std::uint64_t> keys_at(const Context& context, const SortedKeys& sorted,
                                   const std::vector<Index>& targets) {
  std::vector<std::uint64_t> keys(targets.size());
  for (int shift = sorted.bits; shift > 0;) {
    const int width = std::min(bits_per_round, shift);
    shift -= width;
    const std::size_t digits = (std::size_t{1} << width) - 1;
    std::vector<std::uint64_t> probes;
    for (const std::uint64_t key : keys) {
      for (std::uint64_t digit = 1; digit <= digits; ++digit)
        probes.push_back(key | digit << shift);
    }
    std::vector<Index> below = weights_below(context.exec, sorted, probes);
    context.comm.sum_in_place(below);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const auto first = below.begin() + static_cast<std::ptrdiff_t>(t * digits);
      const auto fits =
          std::upper_bound(first, first + static_cast<std::ptrdiff_t>(digits), targets[t]) - first;
      keys[t] |= static_cast<std::uint64_t>(fits) << shift;
    }
  }
  return keys;
}

/// Weight of this rank's elements before each cut.
std::vector<Index> weights_before_cuts(const Context& context, const SortedKeys& sorted,
                                       const std::vector<Index>& targets) {
  const std::vector<std::uint64_t> keys = keys_at(context, sorted, targets);
  std::vector<std::uint64_t> next = keys;
  for (std::uint64_t& key : next) ++key;
  const std::vector<Index> below = weights_below(context.exec, sorted, keys);
  const std::vector<Index> below_next = weights_below(context.exec, sorted, next);
  std::vector<Index> below_on_all = below;
  context.comm.sum_in_place(below_on_all);
  std::vector<Index> equal_on_lower(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) equal_on_lower[t] = below_next[t] - below[t];
  context.comm.exclusive_sum_in_place(equal_on_lower);
  std::vector<Index> before(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const Index rest = targets[t] - below_on_all[t] - equal_on_lower[t];
    before[t] = below[t] + std::clamp<Index>(rest, 0, below_next[t] - below[t]);
  }
  return before;
}

/// Of all ranks. Added up in two halves: what no Index can hold is noticed.
Index total_of(const Communicator& comm, Index weight) {
  constexpr int half = 32;
  constexpr Index limit = Index{1} << 62;
  const auto bits = static_cast<std::uint64_t>(weight);
  std::vector<Index> sums{static_cast<Index>(bits >> half), static_cast<Index>(bits & 0xffffffffU)};
  comm.sum_in_place(sums);
  validate(
      sums[0] + (sums[1] >> half) < limit >> half,
      "the weights of all particles add up to {:.4g} (must be less than 2^62): divide them all "
      "by the same number",
      std::ldexp(static_cast<double>(sums[0]), half) + static_cast<double>(sums[1]));
  return (sums[0] << half) + sums[1];
}

/// Weight before each cut, over all ranks.
std::vector<Index> targets_of(const Communicator& comm, Index weight) {
  const Index total = total_of(comm, weight);
  std::vector<Index> targets;
  for (int rank = 1; rank < comm.size(); ++rank)
    targets.push_back(share_of(total, rank, comm.size()).first);
  return targets;
}

}  // namespace

std::vector<std::uint64_t> keys_of_cuts(const Context& context, const SortedKeys& sorted) {
  return keys_at(context, sorted, targets_of(context.comm, weight_of(context.exec, sorted)));
}

ExchangePlan plan_even_parts(const Context& context, const SortedKeys& sorted) {
  const Index weight = weight_of(context.exec, sorted);
  std::vector<Index> cuts = weights_before_cuts(context, sorted, targets_of(context.comm, weight));
  const bool is_weighted = !sorted.weight_before.empty();
  if (is_weighted) {
    const auto on_exec = to_exec(context.exec, Span<const Index>(cuts), "weights before cuts");
    Buffer<Index> indices(context.exec, on_exec.size(), "cuts");
    kernels::on(context.exec, [&](const auto& e) {
      kernels::find_weights(e, sorted.weight_before, on_exec.span(), indices.span());
    });
    cuts = to_host(context.exec, indices);
  }
  cuts.insert(cuts.begin(), 0);
  cuts.push_back(is_weighted ? sorted.keys.size() : weight);
  std::vector<Index> counts;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) counts.push_back(cuts[r + 1] - cuts[r]);
  return context.comm.plan_exchange(counts);
}

Buffer<LocalIndex> sort_indices(const Exec& exec, Span<std::uint64_t> keys, int bits) {
  Buffer<LocalIndex> order(exec, keys.size(), "sorted order");
  Buffer<std::uint64_t> spare_keys(exec, keys.size(), "sorting");
  Buffer<LocalIndex> spare_order(exec, keys.size(), "sorting");
  kernels::on(exec, [&](const auto& e) {
    kernels::number(e, order.span());
    kernels::sort_pairs(e, {keys, order.span(), spare_keys.span(), spare_order.span()}, bits);
  });
  return order;
}

std::vector<Index> count_ranks(const Exec& exec, Span<const std::uint64_t> ranks, int num_ranks) {
  std::vector<std::uint64_t> next(static_cast<std::size_t>(num_ranks));
  std::iota(next.begin(), next.end(), std::uint64_t{1});
  std::vector<Index> counts = weights_below(exec, {ranks}, next);
  std::adjacent_difference(counts.begin(), counts.end(), counts.begin());
  return counts;
}

int bits_for(Index largest) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
}

}  // namespace zhalo
