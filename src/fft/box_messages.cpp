#include "src/fft/box_messages.hpp"

#include <algorithm>

#include "kernels/on.hpp"
#include "zhalo/core/buffer.hpp"

namespace zhalo {
namespace {

/// A loop of a move.
struct Loop {
  Index extent = 1;
  Index from_stride = 0;
  Index to_stride = 0;
};

/// Loops over words, outermost first, in the order in which they are written; as few as possible.
std::vector<Loop> loops_of(const MoveList::End& from, const MoveList::End& to, Index words) {
  std::vector<Loop> loops;
  for (const int axis : order_of(to.layout))
    loops.push_back({to.index_box.length(axis), from.layout.stride[axis] * words,
                     to.layout.stride[axis] * words});
  loops.push_back({words, 1, 1});
  std::vector<Loop> joined;
  for (const Loop& loop : loops) {
    if (loop.extent == 1) continue;
    const bool goes_on = !joined.empty() &&
                         joined.back().from_stride == loop.from_stride * loop.extent &&
                         joined.back().to_stride == loop.to_stride * loop.extent;
    if (goes_on) {
      joined.back() = {joined.back().extent * loop.extent, loop.from_stride, loop.to_stride};
    } else {
      joined.push_back(loop);
    }
  }
  return joined;
}

void add_counts(std::vector<Index>& offset, const std::vector<MessageBox>& index_boxes) {
  for (const MessageBox& message : index_boxes)
    offset[static_cast<std::size_t>(message.rank) + 1] += message.index_box.size();
  for (std::size_t r = 1; r < offset.size(); ++r) offset[r] += offset[r - 1];
}

}  // namespace

AxisOrder order_of(const BoxLayout& layout) {
  AxisOrder order = natural_order;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return layout.stride[a] > layout.stride[b]; });
  return order;
}

ExchangePlan plan_messages(const BoxMessages& messages, int num_ranks) {
  const auto size = static_cast<std::size_t>(num_ranks) + 1;
  ExchangePlan plan{std::vector<Index>(size), std::vector<Index>(size)};
  add_counts(plan.send_offset, messages.sent);
  add_counts(plan.receive_offset, messages.received);
  return plan;
}

UploadedMoves::UploadedMoves(const Exec& exec, const std::vector<kernels::BoxMove>& moves)
    : moves_(to_exec(exec, Span<const kernels::BoxMove>(moves), "index boxes")) {
  for (const kernels::BoxMove& move : moves) num_words_ += move.num_words();
}

void MoveList::add(const End& from, const End& to) {
  if (to.index_box.empty()) return;
  kernels::BoxMove move;
  move.first = num_words_;
  move.from = (from.first_element + from.layout.offset(from.index_box.lo)) * words_per_element_;
  move.to = (to.first_element + to.layout.offset(to.index_box.lo)) * words_per_element_;
  const std::vector<Loop> loops = loops_of(from, to, words_per_element_);
  auto axis = static_cast<std::size_t>(kernels::BoxMove::num_axes) - loops.size();
  for (const Loop& loop : loops) {
    move.extent[axis] = loop.extent;
    move.from_stride[axis] = loop.from_stride;
    move.to_stride[axis] = loop.to_stride;
    ++axis;
  }
  num_words_ += move.num_words();
  moves_.push_back(move);
}

MoveList MoveList::reversed() const {
  MoveList other = *this;
  for (kernels::BoxMove& move : other.moves_) {
    std::swap(move.from, move.to);
    std::swap(move.from_stride, move.to_stride);
  }
  return other;
}

MessageMoves make_moves(const BoxMessages& messages, const BoxLayout& from, const BoxLayout& to,
                        Index words_per_element) {
  MessageMoves moves{MoveList(words_per_element), MoveList(words_per_element),
                     MoveList(words_per_element)};
  Index first = 0;
  for (const MessageBox& message : messages.sent) {
    const BoxLayout packed = layout_of(message.index_box, message.order);
    moves.pack.add({from, message.index_box}, {packed, message.index_box, first});
    first += packed.size;
  }
  first = 0;
  for (const MessageBox& message : messages.received) {
    const BoxLayout packed = layout_of(message.index_box, message.order);
    moves.unpack.add({packed, message.index_box, first}, {to, message.index_box});
    first += packed.size;
  }
  for (const OwnBox& own : messages.own) moves.own.add({from, own.from}, {to, own.to});
  return moves;
}

Messages::Messages(const Exec& exec, const ExchangePlan& plan, Index element_size)
    : sent(exec, plan.num_sent() * element_size, "index boxes to send"),
      received(exec, plan.num_received() * element_size, "index boxes received") {}

void exchange_messages(const Context& context, const ExchangePlan& plan, Index element_size,
                       Messages& messages) {
  if (context.comm.size() == 1) return;
  const ColumnView sent{messages.sent.data(), plan.num_sent(), element_size, 0};
  context.comm.exchange(context.exec, plan, {{sent, messages.received.data()}});
}

void move_boxes(const Context& context, const UploadedMessages& moves,
                const kernels::ElementArrays& arrays, Index element_size) {
  Messages messages(context.exec, moves.plan, element_size);
  const auto copy = [&](const UploadedMoves& list, const void* from, void* to) {
    kernels::on(context.exec, [&](const auto& e) {
      kernels::copy_boxes(e, list.view(), {from, to, arrays.word_size});
    });
  };
  copy(moves.pack, arrays.from, messages.sent.data());
  copy(moves.own, arrays.from, arrays.to);
  exchange_messages(context, moves.plan, element_size, messages);
  copy(moves.unpack, messages.received.data(), arrays.to);
}

std::vector<std::size_t> rounds_of(const std::vector<IndexBox>& index_boxes) {
  std::vector<std::size_t> rounds;
  for (const IndexBox& index_box : index_boxes) {
    std::size_t round = 0;
    for (std::size_t before = 0; before < rounds.size(); ++before) {
      if (rounds[before] >= round && !intersection(index_boxes[before], index_box).empty())
        round = rounds[before] + 1;
    }
    rounds.push_back(round);
  }
  return rounds;
}

}  // namespace zhalo
