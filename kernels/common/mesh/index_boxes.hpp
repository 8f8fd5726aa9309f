/// Moving index boxes between strided arrays: chunks of runs on the host, one word a thread on a
/// device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/common/arithmetic.hpp"
#include "kernels/common/backend.hpp"
#include "kernels/mesh.hpp"

namespace zhalo::kernels {

struct alignas(16) SixteenBytes {
  std::uint64_t low;
  std::uint64_t high;
};

/// Words side by side (in strides) on both sides.
struct WordRun {
  Index from = 0;
  Index to = 0;
  Index from_stride = 0;
  Index to_stride = 0;
  Index count = 0;

  bool is_dense() const { return from_stride == 1 && to_stride == 1; }
};

/// Where a word of a move is: loop counters and both offsets.
struct WordPosition {
  Index at[BoxMove::num_axes];
  Index from;
  Index to;

  ZHALO_HD WordPosition(const BoxMove& move, Index word) : at{}, from(move.from), to(move.to) {
    for (int axis = BoxMove::num_axes - 1; axis > 0; --axis) {
      if (move.extent[axis] == 1) continue;
      const Index rest = quotient(word, move.extent[axis]);
      advance(move, axis, word - rest * move.extent[axis]);
      word = rest;
    }
    advance(move, 0, word);
  }

  /// To the first word of the next row.
  void next_row(const BoxMove& move) {
    advance(move, 3, -at[3]);
    int axis = 2;
    while (axis > 0 && at[axis] + 1 == move.extent[axis]) {
      advance(move, axis, -at[axis]);
      --axis;
    }
    advance(move, axis, 1);
  }

 private:
  ZHALO_HD void advance(const BoxMove& move, int axis, Index by) {
    at[axis] += by;
    from += by * move.from_stride[axis];
    to += by * move.to_stride[axis];
  }
};

/// The move that a word of the list belongs to.
ZHALO_HD inline Index move_of(Span<const BoxMove> moves, Index word) {
  return first_index_where(moves.size(), [&](Index i) { return moves[i].first > word; }) - 1;
}

/// What a device runs.
template <class Action>
struct ActOnWord {
  BoxMoves index_boxes;
  Action action;

  ZHALO_HD void operator()(Index word) const {
    const BoxMove& move = index_boxes.moves[move_of(index_boxes.moves, word)];
    const WordPosition position(move, word - move.first);
    action.one(position.from, position.to);
  }
};

/// What the host runs: chunk i is the words from i * chunk on.
template <class Action>
struct ActOnChunk {
  static constexpr bool long_elements = true;

  BoxMoves index_boxes;
  Action action;
  Index chunk = 0;

  void operator()(Index i) const {
    Index word = i * chunk;
    const Index last = std::min(index_boxes.num_words, word + chunk);
    for (Index m = move_of(index_boxes.moves, word); word < last; ++m) {
      const BoxMove& move = index_boxes.moves[m];
      const Index end = std::min(last, move.first + move.num_words());
      act_on_rows(move, word - move.first, end - move.first);
      word = end;
    }
  }

 private:
  /// Words [word, end) of a move, row by row; the first and the last row may be in part.
  void act_on_rows(const BoxMove& move, Index word, Index end) const {
    WordPosition position(move, word);
    while (true) {
      const Index count = std::min(move.extent[3] - position.at[3], end - word);
      action.run(
          WordRun{position.from, position.to, move.from_stride[3], move.to_stride[3], count});
      word += count;
      if (word == end) return;
      position.next_row(move);
    }
  }
};

template <class E, class Action>
void act_on_boxes(const E& exec, const BoxMoves& index_boxes, const Action& action) {
  if (index_boxes.num_words == 0) return;
  if constexpr (std::is_same_v<E, Host>) {
    const Index chunk = chunk_of_loop(exec);
    for_each(exec, (index_boxes.num_words + chunk - 1) / chunk,
             ActOnChunk<Action>{index_boxes, action, chunk});
  } else {
    for_each(exec, index_boxes.num_words, ActOnWord<Action>{index_boxes, action});
  }
}

template <class Word>
struct CopyWord {
  const Word* from;
  Word* to;

  ZHALO_HD void one(Index source, Index target) const { to[target] = from[source]; }
  void run(const WordRun& run) const {
    if (run.is_dense()) {
      std::memcpy(to + run.to, from + run.from, static_cast<std::size_t>(run.count) * sizeof(Word));
      return;
    }
    for (Index i = 0; i < run.count; ++i)
      one(run.from + i * run.from_stride, run.to + i * run.to_stride);
  }
};

template <class T>
struct AddWord {
  const T* from;
  T* to;

  ZHALO_HD void one(Index source, Index target) const { to[target] += from[source]; }
  void run(const WordRun& run) const {
    if (run.is_dense()) {
      for (Index i = 0; i < run.count; ++i) one(run.from + i, run.to + i);
      return;
    }
    for (Index i = 0; i < run.count; ++i)
      one(run.from + i * run.from_stride, run.to + i * run.to_stride);
  }
};

template <class Word>
struct ZeroWord {
  Word* to;

  ZHALO_HD void one(Index, Index target) const { to[target] = Word{}; }
  void run(const WordRun& run) const {
    for (Index i = 0; i < run.count; ++i) one(0, run.to + i * run.to_stride);
  }
};

/// call(word) with a word of that size.
template <class Call>
void with_word(Index word_size, const Call& call) {
  switch (word_size) {
    case 16: return call(SixteenBytes{});
    case 8: return call(std::uint64_t{});
    case 4: return call(std::uint32_t{});
    case 2: return call(std::uint16_t{});
    default: ZHALO_EXPECT(word_size == 1); return call(std::uint8_t{});
  }
}

template <class E>
void copy_boxes(const E& exec, const BoxMoves& index_boxes, const ElementArrays& arrays) {
  with_word(arrays.word_size, [&](auto word) {
    using Word = decltype(word);
    act_on_boxes(
        exec, index_boxes,
        CopyWord<Word>{static_cast<const Word*>(arrays.from), static_cast<Word*>(arrays.to)});
  });
}

template <class E, class T>
void add_boxes(const E& exec, const BoxMoves& index_boxes, const T* from, T* to) {
  act_on_boxes(exec, index_boxes, AddWord<T>{from, to});
}

template <class E>
void zero_boxes(const E& exec, const BoxMoves& index_boxes, void* to, Index word_size) {
  with_word(word_size, [&](auto word) {
    using Word = decltype(word);
    act_on_boxes(exec, index_boxes, ZeroWord<Word>{static_cast<Word*>(to)});
  });
}

ZHALO_INSTANTIATE(copy_boxes);
ZHALO_INSTANTIATE(add_boxes, std::int32_t);
ZHALO_INSTANTIATE(add_boxes, Index);
ZHALO_INSTANTIATE_REALS(add_boxes);
ZHALO_INSTANTIATE(zero_boxes);

}  // namespace zhalo::kernels
