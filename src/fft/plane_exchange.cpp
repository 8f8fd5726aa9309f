#include "src/fft/fft_plan.hpp"

#include <algorithm>
#include <functional>

namespace zhalo::fft {
namespace {

using kernels::PlanePiece;

/// What member `from` sends to member `to`.
struct Block {
  Index num_planes = 0;
  Index num_rows = 0;
  Index num_columns = 0;

  Index per_plane() const { return num_rows * num_columns; }
  Index size() const { return num_planes * per_plane(); }
};
using BlockOf = std::function<Block(std::size_t from, std::size_t to)>;

/// Where the block of `from` lies in the receive buffer memory of `to`; with from == the number of
/// members, the memory's size.
Index receive_buffer_of(const ExchangeGroup& group, const BlockOf& block, std::size_t from,
                        std::size_t to) {
  Index sum = 0;
  for (std::size_t before = 0; before < from; ++before) {
    if (before != to || group.own == OwnBlock::received) sum += block(before, to).size();
  }
  return sum;
}

/// A dense block's strides as the planes that it was cut from.
PlanePiece piece_of(const Block& block) {
  PlanePiece piece;
  piece.num_rows = block.num_rows;
  piece.num_columns = block.num_columns;
  piece.row_stride = block.num_columns;
  piece.plane_stride = block.per_plane();
  return piece;
}

PlaneExchange exchange_of(const ExchangeGroup& group, const BlockOf& block) {
  PlaneExchange exchange;
  const std::size_t size = group.ranks.size();
  exchange.me = group.me;
  exchange.receive_buffer_size = receive_buffer_of(group, block, size, group.me);
  exchange.num_planes = block(group.me, group.me).num_planes;
  Index max_per_plane = 1;
  for (std::size_t from = 0; from < size; ++from) {
    exchange.max_planes = std::max(exchange.max_planes, block(from, from).num_planes);
    Index per_plane = 0;
    for (std::size_t to = 0; to < size; ++to) per_plane += block(from, to).per_plane();
    max_per_plane = std::max(max_per_plane, per_plane);
  }
  const Index planes = group.bytes_per_part / (max_per_plane * group.element_size);
  exchange.planes_per_part = std::clamp<Index>(planes, 1, std::max<Index>(exchange.max_planes, 1));
  for (std::size_t peer = 0; peer < size; ++peer) {
    const Block sent = block(group.me, peer);
    const Block received = block(peer, group.me);
    ExchangePeer& entry = exchange.peers.emplace_back();
    entry.rank = group.ranks[peer];
    entry.store = piece_of(sent);
    entry.load = piece_of(received);
    entry.sent_per_plane = sent.per_plane();
    entry.received_per_plane = received.per_plane();
    entry.received_planes = received.num_planes;
    entry.receive_buffer = receive_buffer_of(group, block, peer, group.me);
    entry.receive_buffer_there = receive_buffer_of(group, block, group.me, peer);
  }
  return exchange;
}

}  // namespace

Index PlaneExchange::sent_per_part() const {
  Index sum = 0;
  for (const ExchangePeer& peer : peers) sum += peer.sent_per_plane;
  return (sum - self().sent_per_plane) * planes_per_part;
}

Index PlaneExchange::longest_message() const {
  Index longest = 0;
  for (const ExchangePeer& peer : peers)
    longest = std::max({longest, peer.sent_per_plane, peer.received_per_plane});
  return longest * planes_per_part;
}

PlaneExchange swap_planes_and_rows(const ExchangeGroup& group, const std::vector<Share>& planes,
                                   const std::vector<Share>& rows, Index width) {
  PlaneExchange exchange = exchange_of(group, [&](std::size_t from, std::size_t to) {
    return Block{planes[from].count, rows[to].count, width};
  });
  for (std::size_t peer = 0; peer < exchange.peers.size(); ++peer) {
    ExchangePeer& entry = exchange.peers[peer];
    entry.store.first_row = rows[peer].first;
    std::swap(entry.load.plane_stride, entry.load.row_stride);
    entry.load.first_row = planes[peer].first;
    entry.load.num_rows = planes[peer].count;
  }
  return exchange;
}

PlaneExchange rows_to_columns(const ExchangeGroup& group, Index num_planes,
                              const std::vector<Share>& rows, const std::vector<Share>& columns) {
  PlaneExchange exchange = exchange_of(group, [&](std::size_t from, std::size_t to) {
    return Block{num_planes, rows[from].count, columns[to].count};
  });
  for (std::size_t peer = 0; peer < exchange.peers.size(); ++peer) {
    exchange.peers[peer].store.first_column = columns[peer].first;
    exchange.peers[peer].load.first_row = rows[peer].first;
  }
  return exchange;
}

PlaneExchange columns_to_rows(const ExchangeGroup& group, Index num_planes,
                              const std::vector<Share>& rows, const std::vector<Share>& columns) {
  PlaneExchange exchange = exchange_of(group, [&](std::size_t from, std::size_t to) {
    return Block{num_planes, rows[to].count, columns[from].count};
  });
  for (std::size_t peer = 0; peer < exchange.peers.size(); ++peer) {
    exchange.peers[peer].store.first_row = rows[peer].first;
    exchange.peers[peer].load.first_column = columns[peer].first;
  }
  return exchange;
}

}  // namespace zhalo::fft
