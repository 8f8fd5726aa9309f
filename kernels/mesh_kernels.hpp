/// The part of the contract between src and the backends (kernels.hpp) that has to do with fields
/// on grids.
#pragma once

#include "zhalo/core/exec.hpp"
#include "zhalo/core/span.hpp"
#include "zhalo/core/types.hpp"

namespace zhalo::kernels {

// ---------------------------------------------------------------- index boxes
//
// An element of any kind is one or more words of 1, 2, 4, 8 or 16 bytes; places, strides and
// extents count words.

/// A index box on its way from one array to another: four nested loops, axis 3 the innermost. Axes
/// that are not needed have extent 1.
struct BoxMove {
  static constexpr int num_axes = 4;

  Index first = 0;  ///< words of the moves before this one in its list
  Index extent[num_axes] = {1, 1, 1, 1};
  Index from_stride[num_axes] = {};
  Index to_stride[num_axes] = {};
  Index from = 0;  ///< place of the first word
  Index to = 0;

  ZHALO_HD Index num_words() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
};

/// Moves without empty ones among them. No two of them, and no two words of one, go to the same
/// place.
struct BoxMoves {
  Span<const BoxMove> moves;  ///< in memory of the Exec
  Index num_words = 0;        ///< of all
};

/// The arrays that moves refer to: neither overlaps the places that the other one's words are at.
/// Aligned to their words.
struct ElementArrays {
  const void* from = nullptr;
  void* to = nullptr;
  Index word_size = 0;  ///< bytes
};

/// Copies all words of all moves.
template <class E>
void copy_boxes(const E& exec, const BoxMoves& index_boxes, const ElementArrays& arrays);

/// Adds them to what is there. T = std::int32_t, Index, float or double: a complex number is two
/// words.
template <class E, class T>
void add_boxes(const E& exec, const BoxMoves& index_boxes, const T* from, T* to);

/// Sets the places that the words would go to to 0.
template <class E>
void zero_boxes(const E& exec, const BoxMoves& index_boxes, void* to, Index word_size);

}  // namespace zhalo::kernels
