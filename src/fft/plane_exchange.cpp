#include "src/fft/fft_plan.hpp"

#include <algorithm>

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

/// The block from one member to another is the product, side by side, of the sender's and the
/// receiver's: so sums over members need no loop over all pairs of them.
struct Blocks {
  std::vector<Block> senders;
  std::vector<Block> receivers;

  Block operator()(std::size_t from, std::size_t to) const {
    const Block& sender = senders[from];
    const Block& receiver = receivers[to];
    return {sender.num_planes * receiver.num_planes, sender.num_rows * receiver.num_rows,
            sender.num_columns * receiver.num_columns};
  }
};

/// Sum of the sizes of the senders before each one; with one entry more, the sum of all.
std::vector<Index> sizes_before(const std::vector<Block>& senders) {
  std::vector<Index> sums{0};
  for (const Block& sender : senders) sums.push_back(sums.back() + sender.size());
  return sums;
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

/// The most planes that a part may have on any member.
Index planes_of_a_part(const ExchangeGroup& group, const Blocks& block, Index max_planes) {
  Index received = 0;
  for (const Block& receiver : block.receivers) received += receiver.per_plane();
  Index max_per_plane = 1;
  for (const Block& sender : block.senders)
    max_per_plane = std::max(max_per_plane, sender.per_plane() * received);
  const Index planes = group.bytes_per_part / (max_per_plane * group.element_size);
  return std::clamp<Index>(planes, 1, std::max<Index>(max_planes, 1));
}

PlaneExchange exchange_of(const ExchangeGroup& group, const Blocks& block) {
  PlaneExchange exchange;
  const std::size_t size = group.ranks.size();
  const std::vector<Index> before = sizes_before(block.senders);
  // Where the block of `from` lies in the receive buffer of `to`.
  const auto receive_buffer_of = [&](std::size_t from, std::size_t to) {
    const bool skips_own = group.own != OwnBlock::received && to < from;
    return before[from] * block.receivers[to].size() - (skips_own ? block(to, to).size() : 0);
  };
  exchange.me = group.me;
  exchange.receive_buffer_size = receive_buffer_of(size, group.me);
  exchange.num_planes = block(group.me, group.me).num_planes;
  for (const Block& sender : block.senders)
    exchange.max_planes = std::max(exchange.max_planes, sender.num_planes);
  exchange.planes_per_part = planes_of_a_part(group, block, exchange.max_planes);
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
    entry.receive_buffer = receive_buffer_of(peer, group.me);
    entry.receive_buffer_there = receive_buffer_of(group.me, peer);
  }
  return exchange;
}

/// One block for each share, made of its count.
template <class BlockOf>
std::vector<Block> blocks_of(const std::vector<Share>& shares, const BlockOf& block) {
  std::vector<Block> blocks;
  for (const Share& share : shares) blocks.push_back(block(share.count));
  return blocks;
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
  PlaneExchange exchange = exchange_of(group, {blocks_of(planes,
                                                         [&](Index count) {
                                                           return Block{count, 1, width};
                                                         }),
                                               blocks_of(rows, [](Index count) {
                                                 return Block{1, count, 1};
                                               })});
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
  PlaneExchange exchange = exchange_of(group, {blocks_of(rows,
                                                         [&](Index count) {
                                                           return Block{num_planes, count, 1};
                                                         }),
                                               blocks_of(columns, [](Index count) {
                                                 return Block{1, 1, count};
                                               })});
  for (std::size_t peer = 0; peer < exchange.peers.size(); ++peer) {
    exchange.peers[peer].store.first_column = columns[peer].first;
    exchange.peers[peer].load.first_row = rows[peer].first;
  }
  return exchange;
}

PlaneExchange columns_to_rows(const ExchangeGroup& group, Index num_planes,
                              const std::vector<Share>& rows, const std::vector<Share>& columns) {
  PlaneExchange exchange = exchange_of(group, {blocks_of(columns,
                                                         [&](Index count) {
                                                           return Block{num_planes, 1, count};
                                                         }),
                                               blocks_of(rows, [](Index count) {
                                                 return Block{1, count, 1};
                                               })});
  for (std::size_t peer = 0; peer < exchange.peers.size(); ++peer) {
    exchange.peers[peer].store.first_row = rows[peer].first;
    exchange.peers[peer].load.first_column = columns[peer].first;
  }
  return exchange;
}

}  // namespace zhalo::fft
