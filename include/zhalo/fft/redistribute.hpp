/// Moving a field from one decomposition to another.
#pragma once

#include <type_traits>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/fft/decomposition.hpp"

namespace zhalo {

/// Which part of a field each rank holds, and how it is stored: layout[r] is that of rank r. Index
/// boxes of different ranks must not overlap.
struct FieldLayout {
  std::vector<BoxLayout> layout;

  static FieldLayout of_cells(const Decomposition& decomposition);
  static FieldLayout of_modes(const Decomposition& decomposition, Spectrum spectrum,
                              ModeOrder order = ModeOrder::transposed);
};

/// An array of elements of any trivially copyable type, in memory of the context's Exec.
struct FieldBytes {
  void* data = nullptr;
  Index size = 0;          ///< elements
  Index element_size = 0;  ///< bytes
};

/// redistribute() without the type. `from_field` is not changed. InputError if the two arrays
/// overlap in memory.
void redistribute_bytes(const Context& context, const FieldLayout& from,
                        const FieldBytes& from_field, const FieldLayout& to,
                        const FieldBytes& to_field);

/// Copies every cell that is in both layouts from its rank in `from` to its rank in `to`. Cells of
/// `to` that no rank has in `from`, and gaps, are not changed. The layouts may divide different
/// index boxes in different orders: slabs, pencils, cells, modes, or all on one rank.
///
/// Collective; both layouts are the same on all ranks. Needs memory for a copy of what is sent and
/// of what is received. InputError if a layout is for another number of ranks, the size of a field
/// differs from its layout, or index boxes of `from` overlap.
template <class T>
void redistribute(const Context& context, const FieldLayout& from, Span<const T> from_field,
                  const FieldLayout& to, Span<T> to_field) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto element_size = static_cast<Index>(sizeof(T));
  redistribute_bytes(context, from,
                     {const_cast<T*>(from_field.data()), from_field.size(), element_size}, to,
                     {to_field.data(), to_field.size(), element_size});
}

}  // namespace zhalo
