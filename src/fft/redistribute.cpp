#include "zhalo/fft/redistribute.hpp"

#include <functional>

#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/fft/box_messages.hpp"

namespace zhalo {

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

void append_layout(std::vector<Index>& numbers, const BoxLayout& layout) {
  for (int axis = 0; axis < 3; ++axis)
    numbers.insert(numbers.end(),
                   {layout.index_box.lo[axis], layout.index_box.hi[axis], layout.stride[axis]});
}

void validate_layouts(const Communicator& comm, const FieldLayout& from, const FieldLayout& to,
                      Index element_size) {
  std::vector<Index> numbers{element_size};
  for (const BoxLayout& layout : from.layout) append_layout(numbers, layout);
  for (const BoxLayout& layout : to.layout) append_layout(numbers, layout);
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
    const PhaseTimer timer(context, "transpose");
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
