#include "zhalo/fft/decomposition.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/fft/box_messages.hpp"
#include "zhalo/comm/communicator.hpp"

namespace zhalo {
namespace {

constexpr Index max_cells = Index{1} << 62;

void validate_grid(const Grid& grid) {
  for (int axis = 0; axis < 3; ++axis)
    validate(grid.num[axis] >= 1, "the grid has {} cells along {} (must be at least 1)",
             grid.num[axis], "xyz"[axis]);
  validate(grid.num[0] <= max_cells / grid.num[1] / grid.num[2],
           "a grid of {} x {} x {} cells cannot be counted in 62 bits", grid.num[0], grid.num[1],
           grid.num[2]);
}

/// InputError unless the index is one of `num` along each axis. It is that of a `what`.
void validate_index(const GridIndex& index, const GridIndex& num, const char* what) {
  validate(IndexBox{{}, num}.contains(index),
           "{0} ({1}, {2}, {3}) is not among the {4} x {5} x {6} {0}s of the grid (along each axis "
           "they count from 0)",
           what, index[0], index[1], index[2], num[0], num[1], num[2]);
}

/// The part of [0, total) that is `part`'s of `parts`.
void set_share(IndexBox& index_box, int axis, Index total, int part, int parts) {
  const Share share = share_of(total, part, parts);
  index_box.lo[axis] = share.first;
  index_box.hi[axis] = share.first + share.count;
}

double longest_share(Index total, int parts) {
  return static_cast<double>(share_of(total, 0, parts).count);
}

std::array<int, 2> best_shape(const Grid& grid, int num_ranks, Split split) {
  std::array<int, 2> best = {num_ranks, 1};
  double min_seconds = split == Split::pencil ? std::numeric_limits<double>::infinity()
                                              : modelled_seconds(grid, best);
  for (int columns = 2; columns <= num_ranks && split != Split::slab; ++columns) {
    if (num_ranks % columns != 0 || (split == Split::pencil && columns == num_ranks)) continue;
    const std::array<int, 2> shape = {num_ranks / columns, columns};
    const double seconds = modelled_seconds(grid, shape);
    if (seconds < min_seconds) {
      best = shape;
      min_seconds = seconds;
    }
  }
  return best;
}

}  // namespace

double modelled_seconds(const Grid& grid, const std::array<int, 2>& shape) {
  constexpr double seconds_per_element = 5e-9;
  constexpr double seconds_per_byte = 1 / 2e9;
  constexpr double seconds_per_message = 5e-6;
  constexpr double bytes_per_mode = 16;
  const Index num_z = grid.num[2] / 2 + 1;
  const double x = longest_share(grid.num[0], shape[0]);
  const double y_of_cells = longest_share(grid.num[1], shape[1]);
  const double z = longest_share(num_z, shape[1]);
  const auto sent_share = [](int parts) { return static_cast<double>(parts - 1) / parts; };
  const double rows = x * y_of_cells * static_cast<double>(num_z);
  const double pencils = x * static_cast<double>(grid.num[1]) * z;
  const double modes = longest_share(grid.num[1], shape[0]) * static_cast<double>(grid.num[0]) * z;
  const double elements = 2 * std::max({rows, pencils, modes});
  const double bytes =
      bytes_per_mode * (rows * sent_share(shape[1]) + pencils * sent_share(shape[0]));
  const double messages = shape[0] + shape[1] - 2;
  return elements * seconds_per_element + bytes * seconds_per_byte + messages * seconds_per_message;
}

Decomposition::Decomposition(const Grid& grid, int num_ranks, const DecompositionOptions& options)
    : grid_(grid) {
  validate_grid(grid);
  validate(num_ranks >= 1, "a grid is to be divided among {} ranks (must be at least 1)",
           num_ranks);
  validate_enumerator(options.split, Split::pencil, "DecompositionOptions::split");
  const auto [rows, columns] = options.shape;
  if (rows == 0 && columns == 0) {
    shape_ = best_shape(grid, num_ranks, options.split);
    return;
  }
  validate(rows >= 1 && columns >= 1 && Index{rows} * columns == num_ranks,
           "the shape of the decomposition is {} x {} (must be two numbers whose product is the {} "
           "ranks)",
           rows, columns, num_ranks);
  shape_ = options.shape;
}

GridIndex Decomposition::num_modes(Spectrum spectrum) const {
  validate_enumerator(spectrum, Spectrum::full, "the spectrum");
  GridIndex num = grid_.num;
  if (spectrum == Spectrum::half) num[2] = num[2] / 2 + 1;
  return num;
}

IndexBox Decomposition::cells(int rank) const {
  IndexBox index_box = grid_.index_box();
  set_share(index_box, 0, grid_.num[0], row_of(rank), shape_[0]);
  set_share(index_box, 1, grid_.num[1], column_of(rank), shape_[1]);
  return index_box;
}

IndexBox Decomposition::modes(int rank, Spectrum spectrum, ModeOrder order) const {
  validate_enumerator(order, ModeOrder::natural, "the order of modes");
  const GridIndex num = num_modes(spectrum);
  IndexBox index_box{{}, num};
  const int by_row = order == ModeOrder::natural ? 0 : 1;
  set_share(index_box, by_row, num[by_row], row_of(rank), shape_[0]);
  set_share(index_box, 2, num[2], column_of(rank), shape_[1]);
  return index_box;
}

BoxLayout Decomposition::modes_layout(int rank, Spectrum spectrum, ModeOrder order) const {
  const bool in_order = order == ModeOrder::natural || shape_[0] == 1;
  return layout_of(modes(rank, spectrum, order), in_order ? natural_order : AxisOrder{1, 0, 2});
}

int Decomposition::owner_of_cell(const GridIndex& cell) const {
  validate_index(cell, grid_.num, "cell");
  return rank_at(zhalo::owner_of(cell[0], grid_.num[0], shape_[0]),
                 zhalo::owner_of(cell[1], grid_.num[1], shape_[1]));
}

int Decomposition::owner_of_mode(const GridIndex& mode, Spectrum spectrum, ModeOrder order) const {
  validate_enumerator(order, ModeOrder::natural, "the order of modes");
  const GridIndex num = num_modes(spectrum);
  validate_index(mode, num, "mode");
  const int by_row = order == ModeOrder::natural ? 0 : 1;
  return rank_at(zhalo::owner_of(mode[by_row], num[by_row], shape_[0]),
                 zhalo::owner_of(mode[2], num[2], shape_[1]));
}

GridIndex Decomposition::cell_of(const Vec3d& position) const {
  GridIndex cell;
  for (int axis = 0; axis < 3; ++axis) {
    validate(std::isfinite(position[axis]), "a position is {} along {}, which is in no cell",
             position[axis], "xyz"[axis]);
    const auto num = static_cast<double>(grid_.num[axis]);
    const double cells =
        std::floor((position[axis] - grid_.box.lo[axis]) / grid_.box.length[axis] * num);
    const double wrapped = grid_.box.periodic[axis] ? cells - num * std::floor(cells / num) : cells;
    const double length = grid_.box.length[axis];
    validate(std::isfinite(length) && length > 0 && !std::isnan(wrapped),
             "a position is {} along {}, where the box has corner {} and length {}: it is in no "
             "cell (give the box that the mesh fills)",
             position[axis], "xyz"[axis], grid_.box.lo[axis], length);
    cell[axis] = static_cast<Index>(std::clamp(wrapped, 0.0, num - 1));
  }
  return cell;
}

MeshSize Decomposition::mesh_size(int num_ranks, bool double_values) const {
  const bool has_shape = num_ranks == this->num_ranks();
  return {grid_.num, num_ranks, double_values,
          has_shape ? shape_ : Decomposition(grid_, num_ranks).shape_};
}

std::string Decomposition::describe() const {
  return fmt::format("{} {} x {} of {} x {} x {}", shape_[1] == 1 ? "slab" : "pencil", shape_[0],
                     shape_[1], grid_.num[0], grid_.num[1], grid_.num[2]);
}

// Moving a field from one decomposition to another.

namespace {

const BoxLayout& layout_at(const FieldLayout& layout, int rank) {
  return layout.layout[static_cast<std::size_t>(rank)];
}

/// This rank's layout must be within its field.
void validate_field(const Exec& exec, const BoxLayout& layout, const ColumnView& field,
                    const char* name) {
  validate(field.element_size >= 1, "the elements of {} have {} bytes (must be at least 1)", name,
           field.element_size);
  validate(field.stride_bytes == 0 || field.stride_bytes == field.element_size,
           "{} has gaps: its elements of {} bytes are {} bytes apart", name, field.element_size,
           field.stride_bytes);
  validate(field.num == layout.size,
           "{} has {} elements, but the layout of this rank's index box has {}", name, field.num,
           layout.size);
  validate(field.data != nullptr || field.num == 0, "{} has no memory for its {} elements", name,
           field.num);
  if (field.num > 0) validate_memory(exec, field.data, name);
  Index lowest = 0;
  Index highest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Index reach = (layout.index_box.length(axis) - 1) * layout.stride[axis];
    (reach < 0 ? lowest : highest) += reach;
  }
  validate(layout.index_box.empty() || (lowest >= 0 && highest < layout.size),
           "the layout of {} reaches from element {} to {}, but has {}; see layout_of()", name,
           lowest, highest, layout.size);
}

/// `from` of no two ranks may overlap: every rank looks at its own.
void validate_owners(const FieldLayout& from, int rank) {
  const IndexBox& mine = layout_at(from, rank).index_box;
  for (int other = 0; other < static_cast<int>(from.layout.size()); ++other) {
    validate(other == rank || intersection(mine, layout_at(from, other).index_box).empty(),
             "the index boxes of ranks {} and {} overlap in the layout that a field is moved from "
             "(every cell must have one owner)",
             rank, other);
  }
}

void validate_size(const FieldLayout& layout, const Communicator& comm, const char* name) {
  validate(static_cast<Index>(layout.layout.size()) == comm.size(),
           "the layout that a field is moved {} has {} index boxes for {} ranks (make its "
           "decomposition for as many)",
           name, layout.layout.size(), comm.size());
}

void validate_arrays(const ColumnView& from, const ColumnView& to) {
  const std::less<> before;
  const auto* from_first = static_cast<const char*>(from.data);
  const auto* to_first = static_cast<const char*>(to.data);
  const bool apart = from.num == 0 || to.num == 0 ||
                     !before(from_first, to_first + to.num * to.element_size) ||
                     !before(to_first, from_first + from.num * from.element_size);
  validate(apart,
           "a field is to be moved within one array, which cannot be done in place (give it "
           "another array)");
}

void validate_layouts(const Communicator& comm, const FieldLayout& from, const FieldLayout& to,
                      Index element_size) {
  std::vector<Index> numbers{element_size};
  for (const FieldLayout& field : {from, to}) {
    for (const BoxLayout& layout : field.layout) {
      append_numbers(numbers, layout.index_box.lo);
      append_numbers(numbers, layout.index_box.hi);
      append_numbers(numbers, layout.stride);
    }
  }
  validate_equal(comm, numbers, "the layouts or the elements of a field that is moved");
}

BoxMessages find_messages(const FieldLayout& from, const FieldLayout& to, int rank) {
  BoxMessages messages;
  const IndexBox& give = layout_at(from, rank).index_box;
  const IndexBox& take = layout_at(to, rank).index_box;
  for (int other = 0; other < static_cast<int>(from.layout.size()); ++other) {
    const IndexBox sent = intersection(give, layout_at(to, other).index_box);
    const IndexBox received = intersection(layout_at(from, other).index_box, take);
    if (other == rank) {
      if (!sent.empty()) messages.own.push_back({sent, sent});
      continue;
    }
    if (!sent.empty()) messages.sent.push_back({other, sent, order_of(layout_at(to, other))});
    if (!received.empty())
      messages.received.push_back({other, received, order_of(layout_at(to, rank))});
  }
  return messages;
}

/// The longest word that elements are made of, wherever they are.
Index word_size_of(const ColumnView& from, const ColumnView& to) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(from.data) |
                         reinterpret_cast<std::uintptr_t>(to.data) |
                         static_cast<std::uintptr_t>(from.element_size);
  Index word_size = 16;
  while (addresses % static_cast<std::uintptr_t>(word_size) != 0) word_size /= 2;
  return word_size;
}

}  // namespace

void redistribute_bytes(const Context& context, const FieldLayout& from,
                        const ColumnView& from_field, const FieldLayout& to,
                        Span<std::byte> to_field) {
  finish_together(context, [&] {
    const PhaseTimer timer(context, "redistribute");
    const int rank = context.comm.rank();
    validate_size(from, context.comm, "from");
    validate_size(to, context.comm, "to");
    validate_field(context.exec, layout_at(from, rank), from_field, "the field that is moved");
    const Index element_size = from_field.element_size;
    const ColumnView to_view{to_field.data(), to_field.size() / element_size, element_size, 0};
    validate(to_field.size() % element_size == 0,
             "an array of {} bytes is to hold elements of {} bytes", to_field.size(), element_size);
    validate_field(context.exec, layout_at(to, rank), to_view, "the field that it is moved to");
    validate_arrays(from_field, to_view);
    validate_owners(from, rank);
    validate_layouts(context.comm, from, to, element_size);

    const Index word_size = word_size_of(from_field, to_view);
    const BoxMessages messages = find_messages(from, to, rank);
    const MessageMoves moves =
        make_moves(messages, layout_at(from, rank), layout_at(to, rank), element_size / word_size);
    const UploadedMessages uploaded{
        plan_messages(messages, context.comm.size()), moves.pack.upload(context.exec),
        moves.unpack.upload(context.exec), moves.own.upload(context.exec)};
    move_boxes(context, uploaded, {from_field.data, to_field.data(), word_size}, element_size);
  });
}

FieldLayout FieldLayout::of_cells(const Decomposition& decomposition) {
  FieldLayout layout;
  for (int rank = 0; rank < decomposition.num_ranks(); ++rank)
    layout.layout.push_back(decomposition.cells_layout(rank));
  return layout;
}

FieldLayout FieldLayout::of_modes(const Decomposition& decomposition, Spectrum spectrum,
                                  ModeOrder order) {
  FieldLayout layout;
  for (int rank = 0; rank < decomposition.num_ranks(); ++rank)
    layout.layout.push_back(decomposition.modes_layout(rank, spectrum, order));
  return layout;
}

}  // namespace zhalo
