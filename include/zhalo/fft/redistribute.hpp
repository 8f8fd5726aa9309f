/// Moving a field from one decomposition to another.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/core/strided.hpp"
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

/// redistribute() without the type, for elements of any trivially copyable type. The arrays are in
/// memory of the context's Exec; the elements of `to_field` are as long as those of `from_field`,
/// which has no gaps. InputError if it has some, or the two arrays overlap in memory.
void redistribute_bytes(const Context& context, const FieldLayout& from,
                        const ColumnView& from_field, const FieldLayout& to,
                        Span<std::byte> to_field);

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
  redistribute_bytes(
      context, from, column_view(from_field), to,
      {reinterpret_cast<std::byte*>(to_field.data()), to_field.size() * element_size});
}

}  // namespace zhalo
