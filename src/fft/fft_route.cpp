#include "src/fft/fft_plan.hpp"

#include <algorithm>
#include <optional>

namespace zhalo::fft {
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
