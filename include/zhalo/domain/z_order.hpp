/// Particles of all ranks in Z-order (Morton 1966), in even parts.
#pragma once

#include <memory>
#include <vector>

#include "zhalo/core/box.hpp"
#include "zhalo/core/column_view.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

struct ZOrderOptions {
  /// Parts of equal weight (at least 1 for each particle, in the order of the particles) instead of
  /// equal number; none: equal number.
  Strided<std::uint32_t> weight{nullptr};
  /// Columns that travel with the particles: one element per particle of this rank, in the caller's
  /// order (over segments).
  std::vector<ColumnView> columns{};
};

/// The particles of all ranks, sorted by Morton key (63 bits in 3-D, 62 in 2-D, over the periodic
/// box or the extent of the particles) and global index, and cut into parts: the ranks' numbers
/// differ by at most one, whatever the particles (or the weights, by at most one particle's).
/// Everything travels in one exchange. Results per particle go back to the caller's order and rank.
///
/// The context must outlive it. Owns its memory, in that of the context's Exec; copies are handles
/// of the same order. Arrays of num() elements have room behind their end (Buffer::padding) that
/// may be read.
template <class Real>
class ZOrder {
 public:
  /// Collective. Throws InputError as friends_of_friends for positions and box, for weights of 0,
  /// and if the ranks do not give the same box, the same columns by number and size, and weights
  /// all or none (a rank without particles gives its columns too, with data or not); OutOfMemory.
  ZOrder(const Context& context, const Particles<Real>& particles, const Box& box,
         const ZOrderOptions& options = {});
  ZOrder(Context&&, const Particles<Real>&, const Box&, const ZOrderOptions& = {}) = delete;

  Index num() const;          ///< on this rank now
  Index num_origin() const;   ///< that this rank brought
  Index num_total() const;    ///< over all ranks
  Index first() const;        ///< place of this rank's first particle in the order of all
  Index num_wrapped() const;  ///< over all ranks: lay outside a periodic axis

  /// Wrapped coordinates.
  Span<const Real> pos(int axis) const;
  /// Place of each particle in the caller's order over all ranks.
  Span<const Index> global_index() const;

  /// Column number i of the options, in Z-order. InputError if there is none or its elements have
  /// another size.
  template <class T>
  Span<const T> column(int i) const {
    return {static_cast<const T*>(column_data(i, static_cast<Index>(sizeof(T)))), num()};
  }
  /// The same, copied to the caller's memory (of the Exec), which has room for `capacity` elements.
  /// Collective: InputError on all ranks, with the number needed, if that is too few on one.
  template <class T>
  void copy_column(int i, T* to, Index capacity) const {
    copy_column_bytes(i, static_cast<Index>(sizeof(T)), to, capacity);
  }

  /// One value per particle of this rank, in Z-order, becomes one value per particle that this rank
  /// brought, in the caller's order. Collective. InputError if a size is wrong.
  template <class T>
  void return_to_origin(Span<const T> values, Span<T> to) const {
    return_bytes(column_view(values), to.data(), to.size());
  }

  struct State;

 private:
  const void* column_data(int i, Index element_size) const;
  void copy_column_bytes(int i, Index element_size, void* to, Index capacity) const;
  void return_bytes(const ColumnView& values, void* to, Index num_to) const;

  std::shared_ptr<State> state_;
};

extern template class ZOrder<float>;
extern template class ZOrder<double>;

}  // namespace zhalo
