/// Lists of moves of index boxes, and what they do, word by word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/mesh.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {

/// A list of moves whose targets are apart, with gaps in and between them, axes in any order of
/// strides on both sides.
struct RandomMoves {
  std::vector<kernels::BoxMove> moves;
  Index num_words = 0;
  Index from_size = 0;
  Index to_size = 0;

  explicit RandomMoves(Random& random) {
    const Index num_moves = random.below(9);
    for (Index m = 0; m < num_moves; ++m) {
      kernels::BoxMove move;
      move.first = num_words;
      const bool has_long_axis = random.one_in(8);
      for (Index& extent : move.extent)
        extent = 1 + random.below(random.one_in(3) ? 1 : has_long_axis ? 3 : 9);
      if (has_long_axis) move.extent[random.below(4)] = 3000;  // more than the threads of a block
      move.from = random.below(20);
      move.to = to_size;
      from_size =
          std::max(from_size, move.from + set_strides(random, move.extent, move.from_stride));
      to_size += set_strides(random, move.extent, move.to_stride);
      num_words += move.num_words();
      moves.push_back(move);
    }
  }

  static std::vector<std::int32_t> words(Random& random, Index size) {
    std::vector<std::int32_t> values;
    for (Index i = 0; i < size; ++i)
      values.push_back(static_cast<std::int32_t>(random.below(1000000)));
    return values;
  }

  /// visit(from, to) for each word.
  template <class Visit>
  void for_words(const Visit& visit) const {
    for (const kernels::BoxMove& move : moves) {
      for (Index word = 0; word < move.num_words(); ++word) {
        Index rest = word;
        Index from = move.from;
        Index to = move.to;
        for (int axis = 3; axis >= 0; --axis) {
          from += rest % move.extent[axis] * move.from_stride[axis];
          to += rest % move.extent[axis] * move.to_stride[axis];
          rest /= move.extent[axis];
        }
        visit(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
      }
    }
  }

  template <class T>
  std::vector<T> copied(const std::vector<T>& from, std::vector<T> to) const {
    for_words([&](std::size_t source, std::size_t target) { to[target] = from[source]; });
    return to;
  }

 private:
  /// Strides of axes nested in any order, with gaps; returns the words up to the last one's end.
  static Index set_strides(Random& random, const Index (&extent)[4], Index (&stride)[4]) {
    int order[4] = {0, 1, 2, 3};
    if (random.one_in(2)) {
      for (int i = 3; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    }
    Index next = 1;
    for (int i = 3; i >= 0; --i) {
      stride[order[i]] = next;
      next = next * extent[order[i]] + (random.one_in(3) ? random.below(3) : 0);
    }
    return next;
  }
};

}  // namespace zhalo::testing
