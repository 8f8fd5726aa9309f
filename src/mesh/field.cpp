#include "zhalo/mesh/field.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/fft/box_messages.hpp"
#include "src/mesh/painting.hpp"
#include "zhalo/fft/fft.hpp"

namespace zhalo {

namespace {

/// [lo, hi) of one axis.
struct Range {
  Index lo = 0;
  Index hi = 0;
};

/// Where cells of one part of an axis, seen in an image of the grid, are among the cells and ghosts
/// of another part.
struct Stretch {
  int part = 0;     ///< the one that is asked about
  Index shift = 0;  ///< from the owner's indices to the image's
  Range range;      ///< the image's indices
};
using Stretches = std::vector<Stretch>;

/// The decomposition along one axis: rows of ranks, columns, or one part.
class AxisParts {
 public:
  AxisParts(const Decomposition& decomposition, const Ghosts& ghosts, int axis)
      : below_(ghosts.below[axis]),
        above_(ghosts.above[axis]),
        period_(decomposition.grid().num[axis]),
        periodic_(ghosts.periodic[axis]) {
    const int num_parts = axis == 2 ? 1 : decomposition.shape()[static_cast<std::size_t>(axis)];
    for (int part = 0; part < num_parts; ++part) {
      const IndexBox cells = decomposition.cells(axis == 0 ? decomposition.rank_at(part, 0)
                                                           : decomposition.rank_at(0, part));
      share_.push_back({cells.lo[axis], cells.hi[axis]});
    }
  }

  /// Cells of any part among the cells and ghosts of part `mine`.
  Stretches received(int mine) const {
    Stretches found;
    for (int part = 0; part < num_parts(); ++part)
      append_images(found, part, grown(mine), share(part));
    return found;
  }
  /// Cells of part `mine` among the cells and ghosts of any part.
  Stretches sent(int mine) const {
    Stretches found;
    for (int part = 0; part < num_parts(); ++part)
      append_images(found, part, grown(part), share(mine));
    return found;
  }

 private:
  int num_parts() const { return static_cast<int>(share_.size()); }
  const Range& share(int part) const { return share_[static_cast<std::size_t>(part)]; }
  Range grown(int part) const {
    const Range own = share(part);
    return own.lo < own.hi ? Range{own.lo - below_, own.hi + above_} : Range{};
  }

  void append_images(Stretches& found, int part, const Range& ghosts, const Range& cells) const {
    if (ghosts.lo == ghosts.hi || cells.lo == cells.hi) return;
    // The quotients are rounded towards 0: all images in reach are among these, and perhaps one
    // more at either end.
    const Index first = periodic_ ? (ghosts.lo - cells.hi) / period_ : 0;
    const Index last = periodic_ ? (ghosts.hi - cells.lo) / period_ : 0;
    for (Index image = first; image <= last; ++image) {
      const Index shift = image * period_;
      const Range both{std::max(ghosts.lo, cells.lo + shift),
                       std::min(ghosts.hi, cells.hi + shift)};
      if (both.lo < both.hi) found.push_back({part, shift, both});
    }
  }

  Index below_;
  Index above_;
  Index period_;
  bool periodic_;
  std::vector<Range> share_;
};

/// Cells of the owner in the ghosts of another rank (or its own), by the indices there.
struct GhostBox {
  int rank = 0;  ///< the other side
  GridIndex shift{};
  IndexBox index_box;

  bool is_own_cells(int own_rank) const { return rank == own_rank && shift == GridIndex{}; }
};

/// Whatever is found on all three axes; ascending by rank, then image.
std::vector<GhostBox> combine(const Decomposition& decomposition,
                              const std::array<Stretches, 3>& axes) {
  std::vector<GhostBox> index_boxes;
  for (const Stretch& x : axes[0]) {
    for (const Stretch& y : axes[1]) {
      const int rank = decomposition.rank_at(x.part, y.part);
      for (const Stretch& z : axes[2]) {
        const IndexBox index_box{{{x.range.lo, y.range.lo, z.range.lo}},
                                 {{x.range.hi, y.range.hi, z.range.hi}}};
        index_boxes.push_back({rank, {{x.shift, y.shift, z.shift}}, index_box});
      }
    }
  }
  const auto key = [](const GhostBox& b) {
    return std::make_tuple(b.rank, b.shift[0], b.shift[1], b.shift[2]);
  };
  std::sort(index_boxes.begin(), index_boxes.end(),
            [&](const GhostBox& a, const GhostBox& b) { return key(a) < key(b); });
  return index_boxes;
}

/// The cells of a rank with its ghosts. A rank without cells has none.
IndexBox with_ghosts(const Decomposition& decomposition, const Ghosts& ghosts, int rank) {
  const IndexBox cells = decomposition.cells(rank);
  return cells.empty() ? cells : cells.grown(ghosts.below, ghosts.above);
}

/// What must travel so that the ghosts of all ranks become copies of their owners' cells. Index
/// boxes of one rank are in the order of the images of the grid that they are seen in (x slowest).
/// Without communication.
BoxMessages find_ghost_messages(const Decomposition& decomposition, const Ghosts& ghosts,
                                int rank) {
  const std::array<int, 3> part = {decomposition.row_of(rank), decomposition.column_of(rank), 0};
  std::array<Stretches, 3> received;
  std::array<Stretches, 3> sent;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const AxisParts parts(decomposition, ghosts, static_cast<int>(axis));
    received[axis] = parts.received(part[axis]);
    sent[axis] = parts.sent(part[axis]);
  }
  BoxMessages messages;
  for (const GhostBox& ghost : combine(decomposition, received)) {
    if (ghost.is_own_cells(rank)) continue;
    if (ghost.rank == rank) {
      messages.own.push_back({ghost.index_box.shifted(ghost.shift * -1), ghost.index_box});
    } else {
      messages.received.push_back({ghost.rank, ghost.index_box});
    }
  }
  for (const GhostBox& ghost : combine(decomposition, sent)) {
    if (ghost.rank != rank)
      messages.sent.push_back({ghost.rank, ghost.index_box.shifted(ghost.shift * -1)});
  }
  return messages;
}

}  // namespace

/// What a pull and a push move.
struct GhostExchange {
  UploadedMessages pull;
  /// The other way: ghosts that are sent, and rounds of index boxes that are added. Index boxes of
  /// one round do not overlap, and where index boxes of different rounds do, they are in the order
  /// of the messages.
  UploadedMoves pack;
  std::vector<UploadedMoves> own_rounds;
  std::vector<UploadedMoves> rounds;
  UploadedMoves ghosts;  ///< all, to be set to 0
};

namespace {

constexpr Index max_own_cells = Index{1} << 62;

void validate_ghosts(const Decomposition& decomposition, const Ghosts& ghosts,
                     const Communicator& comm) {
  validate(decomposition.num_ranks() == comm.size(),
           "a field is to be divided as for {} ranks, but there are {} (make the decomposition for "
           "as many)",
           decomposition.num_ranks(), comm.size());
  for (int axis = 0; axis < 3; ++axis) {
    for (const Index width : {ghosts.below[axis], ghosts.above[axis]})
      validate(
          width >= 0 && width < max_own_cells / 4,
          "a field is to have {} layers of ghosts along {} (must be 0 or more, and less than 2^60)",
          width, "xyz"[axis]);
  }
  const IndexBox index_box = with_ghosts(decomposition, ghosts, comm.rank());
  // Not by the index box's size, which may be what cannot be counted.
  const bool has_cells = !decomposition.cells(comm.rank()).empty();
  const bool fits = !has_cells || index_box.length(0) <=
                                      max_own_cells / index_box.length(1) / index_box.length(2);
  validate(fits,
           "a rank's {} x {} x {} cells and ghosts cannot be counted in 62 bits (use fewer layers "
           "of ghosts)",
           index_box.length(0), index_box.length(1), index_box.length(2));
}

void validate_agreed(const Decomposition& decomposition, const Ghosts& ghosts,
                     const Communicator& comm) {
  const Grid& grid = decomposition.grid();
  validate_equal(comm,
                 numbers_of(decomposition.shape(), grid.num, grid.box, ghosts.below, ghosts.above,
                            ghosts.periodic),
                 "the decomposition or the ghosts of a field");
}

/// A list for each round of the index boxes that are added, index box i by add(list, i).
template <class Add>
std::vector<UploadedMoves> upload_rounds(const Exec& exec, const std::vector<IndexBox>& index_boxes,
                                         const MoveList& none, const Add& add) {
  const std::vector<std::size_t> rounds = rounds_of(index_boxes);
  const std::size_t num_rounds =
      rounds.empty() ? 0 : *std::max_element(rounds.begin(), rounds.end()) + 1;
  std::vector<MoveList> lists(num_rounds, none);
  for (std::size_t i = 0; i < index_boxes.size(); ++i) add(lists[rounds[i]], i);
  std::vector<UploadedMoves> uploaded;
  uploaded.reserve(num_rounds);
  for (const MoveList& list : lists) uploaded.push_back(list.upload(exec));
  return uploaded;
}

/// The index boxes of `layout` around the cells, which do not overlap each other.
MoveList list_ghosts(const BoxLayout& layout, const IndexBox& cells, Index words) {
  MoveList list(words);
  IndexBox rest = layout.index_box;
  for (int axis = 0; axis < 3; ++axis) {
    IndexBox below = rest;
    IndexBox above = rest;
    below.hi[axis] = rest.lo[axis] = cells.lo[axis];
    above.lo[axis] = rest.hi[axis] = cells.hi[axis];
    list.add({layout, below}, {layout, below});
    list.add({layout, above}, {layout, above});
  }
  return list;
}

GhostExchange make_exchange(const Context& context, const BoxMessages& messages,
                            const BoxLayout& layout, const IndexBox& cells, Index words) {
  const Exec& exec = context.exec;
  const MessageMoves moves = make_moves(messages, layout, layout, words);
  GhostExchange exchange;
  exchange.pull.plan = plan_messages(messages, context.comm.size());
  exchange.pull.pack = moves.pack.upload(exec);
  exchange.pull.unpack = moves.unpack.upload(exec);
  exchange.pull.own = moves.own.upload(exec);
  exchange.pack = moves.unpack.reversed().upload(exec);
  exchange.ghosts = list_ghosts(layout, cells, words).upload(exec);

  std::vector<IndexBox> own;
  for (const OwnBox& index_box : messages.own) own.push_back(index_box.from);
  exchange.own_rounds =
      upload_rounds(exec, own, MoveList(words), [&](MoveList& list, std::size_t i) {
        list.add({layout, messages.own[i].to}, {layout, messages.own[i].from});
      });
  std::vector<IndexBox> sent;
  std::vector<BoxLayout> packed;
  std::vector<Index> first;
  Index next = 0;
  for (const MessageBox& message : messages.sent) {
    sent.push_back(message.index_box);
    packed.push_back(layout_of(message.index_box, message.order));
    first.push_back(next);
    next += packed.back().size;
  }
  exchange.rounds = upload_rounds(exec, sent, MoveList(words), [&](MoveList& list, std::size_t i) {
    list.add({packed[i], sent[i], first[i]}, {layout, sent[i]});
  });
  return exchange;
}

/// What a T is made of, and added as.
template <class T>
using Word = typename fft::RealOf<T>::type;
template <class T>
constexpr Index word_size = sizeof(Word<T>);
template <class T>
constexpr Index words_per_element = sizeof(T) / sizeof(Word<T>);

template <class T>
void add_rounds(const Exec& exec, const std::vector<UploadedMoves>& rounds, const T* from, T* to) {
  for (const UploadedMoves& round : rounds)
    kernels::on(exec, [&](const auto& e) { kernels::add_boxes(e, round.view(), from, to); });
}

}  // namespace

template <class T>
Field<T>::Field(const Context& context, const Decomposition& decomposition, const Ghosts& ghosts)
    : context_(&context), decomposition_(decomposition) {
  context.comm.together([&] {
    const int rank = context.comm.rank();
    validate_ghosts(decomposition, ghosts, context.comm);
    validate_agreed(decomposition, ghosts, context.comm);
    cells_ = decomposition.cells(rank);
    layout_ = layout_of(with_ghosts(decomposition, ghosts, rank));
    values_ = Buffer<T>(context.exec, layout_.size, "field");
    const BoxMessages messages = find_ghost_messages(decomposition, ghosts, rank);
    exchange_ = std::make_shared<const GhostExchange>(
        make_exchange(context, messages, layout_, cells_, words_per_element<T>));
  });
}

template <class T>
Field<T>::~Field() = default;
template <class T>
Field<T>::Field(Field&& other) noexcept = default;
template <class T>
Field<T>& Field<T>::operator=(Field&& other) noexcept = default;

template <class T>
void Field<T>::pull_ghosts() {
  finish_together(*context_, [&] {
    validate(exchange_ != nullptr, "the field has been moved from: it has no cells");
    const PhaseTimer timer(*context_, "pull ghosts");
    move_boxes(*context_, exchange_->pull, {values_.data(), values_.data(), word_size<T>},
               sizeof(T));
  });
}

template <class T>
void Field<T>::push_ghosts() {
  finish_together(*context_, [&] {
    validate(exchange_ != nullptr, "the field has been moved from: it has no cells");
    const PhaseTimer timer(*context_, "push ghosts");
    const Exec& exec = context_->exec;
    const ExchangePlan plan = exchange_->pull.plan.reversed();
    auto* values = reinterpret_cast<Word<T>*>(values_.data());
    Messages messages(exec, plan, sizeof(T));
    const kernels::ElementArrays arrays{values, messages.sent.data(), word_size<T>};
    kernels::on(exec,
                [&](const auto& e) { kernels::copy_boxes(e, exchange_->pack.view(), arrays); });
    exchange_messages(*context_, plan, sizeof(T), messages);
    // Cells change only now: until here any rank may fail, and all call again.
    add_rounds(exec, exchange_->own_rounds, values, values);
    add_rounds(exec, exchange_->rounds, reinterpret_cast<const Word<T>*>(messages.received.data()),
               values);
    kernels::on(exec, [&](const auto& e) {
      kernels::zero_boxes(e, exchange_->ghosts.view(), values, word_size<T>);
    });
  });
}

template class Field<std::int32_t>;
template class Field<Index>;
template class Field<float>;
template class Field<double>;
template class Field<std::complex<float>>;
template class Field<std::complex<double>>;

}  // namespace zhalo
