#include "zhalo/mesh/field.hpp"

#include <algorithm>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/fft/box_messages.hpp"
#include "src/mesh/ghost_messages.hpp"
#include "zhalo/fft/fft.hpp"

namespace zhalo {

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
      validate(width >= 0 && width < max_own_cells / 4,
               "a field is to have {} layers of ghosts along {} (must be 0 to 2^60)", width,
               "xyz"[axis]);
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
  std::vector<Index> numbers{decomposition.shape()[0], decomposition.shape()[1]};
  for (int axis = 0; axis < 3; ++axis)
    numbers.insert(numbers.end(),
                   {decomposition.grid().num[axis], ghosts.below[axis], ghosts.above[axis],
                    ghosts.periodic[axis] ? Index{1} : Index{0}});
  validate_equal(comm, numbers, "the decomposition or the ghosts of a field");
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
using Word = typename mesh::RealOf<T>::type;
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
    const PhaseTimer timer(*context_, "pull ghosts");
    move_boxes(*context_, exchange_->pull, {values_.data(), values_.data(), word_size<T>},
               sizeof(T));
  });
}

template <class T>
void Field<T>::push_ghosts() {
  finish_together(*context_, [&] {
    const PhaseTimer timer(*context_, "push ghosts");
    const Exec& exec = context_->exec;
    const ExchangePlan plan = exchange_->pull.plan.reversed();
    auto* values = reinterpret_cast<Word<T>*>(values_.data());
    Messages messages(exec, plan, sizeof(T));
    const kernels::ElementArrays arrays{values, messages.sent.data(), word_size<T>};
    kernels::on(exec,
                [&](const auto& e) { kernels::copy_boxes(e, exchange_->pack.view(), arrays); });
    add_rounds(exec, exchange_->own_rounds, values, values);
    exchange_messages(*context_, plan, sizeof(T), messages);
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
