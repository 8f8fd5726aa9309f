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
                                Rooms& rooms) const {
  const Exec& exec = context.exec;
  const bool is_gathered = sent && !move.is_packed;
  ColumnMove column{move.from, move.to};
  if (arrived_ && (is_gathered || !stays_on_rank()))
    column.to = (rooms.received = room_for(exec, num_received(), move.from)).data();
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
    rooms.sent = room_for(exec, plan_.num_sent(), move.from);
    gather_part(0, own.sent.first, rooms.sent.data(), 0);
    gather_part(behind, plan_.num_sent(), rooms.sent.data(), behind);
  }
  return {{rooms.sent.data(), plan_.num_sent(), size, 0}, column.to, true};
}

void Redistribution::forward(const Context& context, const std::vector<Move>& moves) const {
  forward_sent(context, moves, sent_);
}

void Redistribution::forward_sent(const Context& context, const std::vector<Move>& moves,
                                  const Indices& sent) const {
  std::vector<Rooms> rooms(moves.size());
  std::vector<ColumnMove> columns;
  for (std::size_t i = 0; i < moves.size(); ++i)
    columns.push_back(pack(context, moves[i], sent, rooms[i]));
  if (!stays_on_rank()) context.comm.exchange(context.exec, plan_, columns);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    rooms[i].sent = {};
    const bool has_moved = !stays_on_rank() || columns[i].leaves_own;
    const void* came = has_moved ? columns[i].to : columns[i].from.data;
    const ColumnView arriving{came, num_received(), move.from.element_size, 0};
    if (arrived_) {
      gather(context.exec, arriving, arrived_->span(), move.to);
    } else if (came != move.to) {
      copy(context.exec, arriving, move.to);
    }
    rooms[i].received = {};
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
  Rooms rooms;
  const ColumnMove column = pack(context, {from, nullptr}, sent_, rooms);
  context.comm.exchange(context.exec, plan_, {column});
  rooms.sent = {};
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

}  // namespace zhalo
