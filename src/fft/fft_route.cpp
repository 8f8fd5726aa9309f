#include "src/fft/fft_plan.hpp"

#include <algorithm>
#include <optional>

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
  blocks.reserve(shares.size());
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

namespace {

using kernels::ColumnTransform;
using kernels::RowTransform;

std::vector<Share> shares_of(Index total, int parts) {
  std::vector<Share> shares;
  shares.reserve(static_cast<std::size_t>(parts));
  for (int part = 0; part < parts; ++part) shares.push_back(share_of(total, part, parts));
  return shares;
}

/// Makes the stages of one direction, one behind the other.
class RouteBuilder {
 public:
  RouteBuilder(const FftCase& fft_case, Direction direction, Arrays arrays)
      : case_(fft_case),
        direction_(direction),
        arrays_(arrays),
        num_modes_(fft_case.decomposition.num_modes(fft_case.spectrum)),
        row_(fft_case.decomposition.row_of(fft_case.rank)),
        column_(fft_case.decomposition.column_of(fft_case.rank)),
        x_(shares_of(num_modes_[0], rows())),
        y_by_row_(shares_of(num_modes_[1], rows())),
        y_by_column_(shares_of(num_modes_[1], columns())),
        z_(shares_of(num_modes_[2], columns())) {}

  FftRoute build() && {
    if (direction_ == Direction::forward) {
      forward();
    } else {
      backward();
    }
    return std::move(route_);
  }

 private:
  static constexpr StageArray cells = {StageArray::Kind::cells, 0};
  static constexpr StageArray modes = {StageArray::Kind::modes, 0};

  int rows() const { return case_.decomposition.shape()[0]; }
  int columns() const { return case_.decomposition.shape()[1]; }
  bool is_real() const { return case_.spectrum == Spectrum::half; }
  bool restores() const { return case_.restore_order && rows() > 1; }
  static Index count(const std::vector<Share>& shares, int part) {
    return shares[static_cast<std::size_t>(part)].count;
  }

  RowTransform cells_to_rows() const {
    return is_real() ? RowTransform::real_to_complex : RowTransform::forward;
  }
  RowTransform rows_to_cells() const {
    return is_real() ? RowTransform::complex_to_real : RowTransform::backward;
  }
  ColumnTransform column_transform() const {
    return direction_ == Direction::forward ? ColumnTransform::forward : ColumnTransform::backward;
  }

  ExchangeGroup group_of_column(OwnBlock own) const {
    ExchangeGroup group{
        {}, static_cast<std::size_t>(row_), own, case_.bytes_per_part, case_.element_size};
    for (int row = 0; row < rows(); ++row)
      group.ranks.push_back(case_.decomposition.rank_at(row, column_));
    return group;
  }
  ExchangeGroup group_of_row() const {
    ExchangeGroup group{{},
                        static_cast<std::size_t>(column_),
                        OwnBlock::received,
                        case_.bytes_per_part,
                        case_.element_size};
    for (int column = 0; column < columns(); ++column)
      group.ranks.push_back(case_.decomposition.rank_at(row_, column));
    return group;
  }

  /// x and y change roles; `from` is divided before, `to` behind.
  StageArray swap_axes(const std::vector<Share>& from, const std::vector<Share>& to,
                       OwnBlockStorage own_block_storage) {
    const OwnBlock own =
        own_block_storage == OwnBlockStorage::none ? OwnBlock::received : OwnBlock::apart;
    route_.exchanges.push_back(
        swap_planes_and_rows(group_of_column(own), from, to, count(z_, column_)));
    if (own_block_storage != OwnBlockStorage::none) {
      route_.own_block_storage = own_block_storage;
      route_.own_exchange = route_.exchanges.size() - 1;
    }
    return {StageArray::Kind::exchange, route_.exchanges.size() - 1};
  }
  StageArray add(PlaneExchange exchange) {
    route_.exchanges.push_back(std::move(exchange));
    return {StageArray::Kind::exchange, route_.exchanges.size() - 1};
  }

  FftStage& add_stage(int plane_axis, const StageArray& from, const StageArray& to) {
    FftStage stage;
    stage.plane_axis = plane_axis;
    stage.row_axis = 1 - plane_axis;
    stage.num_planes = plane_axis == 0 ? count(x_, row_) : count(y_by_row_, row_);
    stage.from = from;
    stage.to = to;
    stage.steps.num_rows = num_modes_[stage.row_axis];
    stage.steps.num_columns = count(z_, column_);
    stage.steps.line_length = case_.decomposition.grid().num[2];
    stage.steps.measure = case_.measure;
    route_.stages.push_back(stage);
    return route_.stages.back();
  }
  /// Lines along z alone, before they are cut among columns.
  FftStage& add_row_stage(const StageArray& from, const StageArray& to) {
    FftStage& stage = add_stage(0, from, to);
    stage.steps.num_rows = count(y_by_column_, column_);
    stage.steps.num_columns = num_modes_[2];
    return stage;
  }

  /// In place, what a rank keeps of an exchange can wait at the front of the array itself. The last
  /// planes lie behind it. They must leave enough of the receive buffer for the part that is in the
  /// way of the first ones (docs/algorithms.md). Returns FftRoute::first_safe_plane, or nothing if
  /// some rank cannot do this.
  std::optional<Index> first_plane_behind_compact(const std::vector<Share>& from,
                                                  const std::vector<Share>& to) const {
    if (arrays_ == Arrays::apart || columns() > 1 || rows() == 1 || restores()) return std::nullopt;
    Index total = 0;
    for (const Share& share : from) total += share.count;
    std::optional<Index> first_safe_plane;
    for (std::size_t r = 0; r < from.size(); ++r) {
      const Index safe = (from[r].count * to[r].count + total - 1) / total;
      if (from[r].count > total - from[r].count || 2 * safe > to[r].count) return std::nullopt;
      if (static_cast<int>(r) == row_) first_safe_plane = safe;
    }
    return first_safe_plane;
  }

  void forward() {
    StageArray array = cells;
    if (columns() > 1) {
      const StageArray to = add(rows_to_columns(group_of_row(), count(x_, row_), y_by_column_, z_));
      add_row_stage(cells, to).steps.load_rows = cells_to_rows();
      array = to;
    }
    const std::optional<Index> safe = first_plane_behind_compact(x_, y_by_row_);
    route_.first_safe_plane = safe.value_or(0);
    const bool in_output = arrays_ == Arrays::apart && !restores();
    const OwnBlockStorage own = safe        ? OwnBlockStorage::compact
                                : in_output ? OwnBlockStorage::output
                                            : OwnBlockStorage::none;
    const StageArray between = rows() > 1 ? swap_axes(x_, y_by_row_, own) : modes;
    FftStage& y = add_stage(0, array, between);
    if (columns() == 1) y.steps.load_rows = cells_to_rows();
    y.steps.columns = column_transform();
    const StageArray last = restores() ? swap_axes(y_by_row_, x_, OwnBlockStorage::none) : modes;
    FftStage& x = add_stage(1, between, last);
    x.steps.columns = column_transform();
    x.is_scaled = true;
    if (restores()) add_stage(0, last, modes);
  }

  void backward() {
    StageArray array = modes;
    if (restores()) {
      array = swap_axes(x_, y_by_row_, OwnBlockStorage::none);
      add_stage(0, modes, array);
    }
    const bool in_place = arrays_ == Arrays::in_place;
    const std::optional<Index> safe = first_plane_behind_compact(y_by_row_, x_);
    route_.first_safe_plane = safe.value_or(0);
    // The modes stay as they are when there is another array.
    const bool exchanges = rows() > 1 || !in_place;
    const OwnBlockStorage own = safe ? OwnBlockStorage::compact : OwnBlockStorage::none;
    const StageArray between = exchanges ? swap_axes(y_by_row_, x_, own) : modes;
    FftStage& x = add_stage(1, array, between);
    x.steps.columns = column_transform();
    x.is_scaled = true;
    const StageArray last =
        columns() > 1 ? add(columns_to_rows(group_of_row(), count(x_, row_), y_by_column_, z_))
                      : cells;
    FftStage& y = add_stage(0, between, last);
    y.steps.columns = column_transform();
    if (columns() == 1) y.steps.store_rows = rows_to_cells();
    if (columns() > 1) add_row_stage(last, cells).steps.store_rows = rows_to_cells();
  }

  const FftCase& case_;
  Direction direction_;
  Arrays arrays_;
  GridIndex num_modes_;
  int row_;
  int column_;
  std::vector<Share> x_;
  std::vector<Share> y_by_row_;
  std::vector<Share> y_by_column_;
  std::vector<Share> z_;
  FftRoute route_;
};

}  // namespace

Index FftRoute::receive_buffer_size(std::size_t memory) const {
  Index max_size = 0;
  for (std::size_t e = memory; e < exchanges.size(); e += 2)
    max_size = std::max(max_size, exchanges[e].receive_buffer_size);
  return max_size;
}

Index FftRoute::sent_per_part() const {
  Index max_size = 0;
  for (const PlaneExchange& exchange : exchanges)
    max_size = std::max(max_size, exchange.sent_per_part());
  return max_size;
}

FftRoute make_route(const FftCase& fft_case, Direction direction, Arrays arrays) {
  return RouteBuilder(fft_case, direction, arrays).build();
}

}  // namespace zhalo::fft
