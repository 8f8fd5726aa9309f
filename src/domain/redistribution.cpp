#include "src/domain/redistribution.hpp"

#include <utility>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"

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

Redistribution::Redistribution(ExchangePlan plan, Indices sent, Indices arrived)
    : plan_(std::move(plan)), sent_(std::move(sent)), arrived_(std::move(arrived)) {}

void Redistribution::forward(const Context& context, const std::vector<Move>& moves) const {
  const Exec& exec = context.exec;
  std::vector<Buffer<std::byte>> sent(moves.size()), received(moves.size());
  std::vector<ColumnMove> columns;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    ColumnMove column{move.from, move.to};
    if (sent_ && !move.is_packed) {
      // What stays on its rank is in its new order at once, if there is no other order on arrival.
      void* packed = move.to;
      if (!stays_on_rank() || arrived_)
        packed = (sent[i] = room_for(exec, plan_.num_sent(), move.from)).data();
      gather(exec, move.from, sent_->span(), packed);
      column.from = {packed, plan_.num_sent(), move.from.element_size, 0};
    }
    if (arrived_) {
      received[i] = room_for(exec, plan_.num_received(), move.from);
      column.to = received[i].data();
    }
    columns.push_back(column);
  }
  if (!stays_on_rank()) context.comm.exchange(exec, plan_, columns);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    const void* came = stays_on_rank() ? columns[i].from.data : columns[i].to;
    const ColumnView arriving{came, plan_.num_received(), move.from.element_size, 0};
    if (arrived_) {
      gather(exec, arriving, arrived_->span(), move.to);
    } else if (came != move.to) {
      copy(exec, arriving, move.to);
    }
    sent[i] = {};
    received[i] = {};
  }
  if (!stays_on_rank()) synchronise(exec);
}

std::optional<Redistribution> Redistribution::then(const Context& context,
                                                   const Redistribution& next) const {
  const bool has_one_order = sent_ && next.sent_ && !arrived_ && !next.arrived_;
  if (!stays_on_rank() || !has_one_order) return std::nullopt;
  Buffer<LocalIndex> sent(context.exec, next.sent_->size(), "the order of columns");
  gather(context.exec, column_view(*sent_), next.sent_->span(), sent.data());
  return Redistribution(next.plan_, std::move(sent));
}

void Redistribution::backward(const Context& context, const Move& move) const {
  if (!arrived_) return backward_as_arrived(context, move);
  Buffer<std::byte> unordered = room_for(context.exec, plan_.num_received(), move.from);
  scatter(context.exec, move.from, arrived_->span(), unordered.data());
  backward_as_arrived(
      context, {{unordered.data(), plan_.num_received(), move.from.element_size, 0}, move.to});
}

void Redistribution::backward_as_arrived(const Context& context, const Move& move) const {
  const Exec& exec = context.exec;
  const ColumnView& from = move.from;
  const void* returning = from.data;
  Buffer<std::byte> back;
  if (!stays_on_rank()) {
    void* receiving = move.to;
    if (sent_) receiving = (back = room_for(exec, plan_.num_sent(), from)).data();
    context.comm.exchange(exec, plan_.reversed(), {{from, receiving}});
    returning = receiving;
  }
  const ColumnView came{returning, plan_.num_sent(), from.element_size, 0};
  if (sent_) {
    scatter(exec, came, sent_->span(), move.to);
  } else if (returning != move.to) {
    copy(exec, came, move.to);
  }
  if (!stays_on_rank()) synchronise(exec);
}

}  // namespace zhalo
