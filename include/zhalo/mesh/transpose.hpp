/// Moving a field from one decomposition to another.
#pragma once

#include <type_traits>
#include <vector>

#include "zhalo/comm/context.hpp"
#include "zhalo/mesh/decomposition.hpp"

namespace zhalo {

/// Which part of a field each rank holds, and how it lies there: layout[r] is rank r's. Bricks of different ranks must not overlap.
struct Partition {
  std::vector<BrickLayout> layout;

  static Partition of_cells(const Decomposition& decomposition);
  static Partition of_modes(const Decomposition& decomposition, Spectrum spectrum, ModeOrder order = ModeOrder::transposed);
};

/// Elements of any trivially copyable kind, in memory of the context's Exec.
struct FieldBytes {
  void* data = nullptr;
  Index size = 0;          ///< elements
  Index element_size = 0;  ///< bytes
};

/// transpose() without the type: `from_field` is only read. InputError if the two fields overlap in memory.
void transpose_bytes(const Context& context, const Partition& from, const FieldBytes& from_field, const Partition& to,
                     const FieldBytes& to_field);

/// Moves every cell that both partitions hold to its place in `to`; cells of `to` that nobody holds in `from`, and gaps, stay as they are.
/// The partitions may divide different bricks in different orders: slabs, pencils, cells, modes, all on one rank. Collective; both
/// partitions are the same on all ranks. Memory: a copy of what is sent and of what is received. InputError if a partition is not for this
/// number of ranks, a field's size is not its layout's, or bricks of `from` overlap.
template <class T>
void transpose(const Context& context, const Partition& from, Span<const T> from_field, const Partition& to, Span<T> to_field) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr auto element_size = static_cast<Index>(sizeof(T));
  transpose_bytes(context, from, {const_cast<T*>(from_field.data()), from_field.size(), element_size}, to,
                  {to_field.data(), to_field.size(), element_size});
}

}  // namespace zhalo
