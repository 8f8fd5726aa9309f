/// The particles of all ranks, sorted once along the Z-order (Morton 1966) and divided evenly among
/// the ranks.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "zhalo/core/buffer.hpp"
#include "zhalo/core/types.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

/// What a vector, a Span or a Buffer holds.
template <class Array>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<const Array&>().data())>;

/// A view of all of it.
template <class Array>
Span<const ElementOf<Array>> span_of(const Array& array) {
  return {array.data(), static_cast<Index>(array.size())};
}

struct DomainOptions {
  /// Weights of the particles, in the caller's order and each at least 1. With weights, each rank
  /// gets a part of equal weight. Without weights, it gets a part of equal number. For a single
  /// species only.
  Strided<std::uint32_t> weight{nullptr};
  /// The smallest linking length or radius of later searches in the domain; 0: any. Sort keys then
  /// do not resolve cells much smaller than this, and sorting takes less time. Searches with
  /// smaller lengths are still correct. Leave it at 0 if nearest neighbours are searched or species
  /// attached: these look at all particles of such a cell, which may be many in dense haloes.
  ///
  /// Within such a cell, particles are in the order of their global indices. So the length decides
  /// the order of members in a catalogue, and with it the checksum. The command fof gives its
  /// linking length, or 0 if it attaches types.
  double min_length = 0;
};

template <class Real>
struct DomainState;

/// The particles of all ranks, sorted by Morton key and then by global index. Each rank holds one
/// contiguous part of that order. Without weights, the numbers of particles on the ranks differ by
/// at most one. A key has up to 63 bits in 3-D and 62 in 2-D. Its cells divide the periodic box, or
/// the extent of the particles. If nearly all of 16384 particles or more are in a tiny part of it,
/// cells divide this part, and the other particles share the outermost cells. This is so for a
/// single species, and where the part does not lie across a periodic edge. Searches hold the
/// particles of a finest cell against each other. So two clumps that are 10^6 times as far apart as
/// they are wide take long.
///
///   const Domain<float> domain(context, particles, box);
///   const FofResult groups = friends_of_friends(domain, {.linking_length = b});
///   const Buffer<Index> labels = domain.to_caller_order(groups.label.span());
///
/// Several species may share a domain. Their common Z-order is cut into even parts, so that ranks
/// hold the same region of each species. Each species keeps its own order.
///
/// A domain also has the columns of its particles: mass, velocity, type.
///
/// Functions that take a domain leave their results in the domain's order. to_caller_order()
/// returns them to the caller's order and rank. A domain owns its memory, which is memory of the
/// context's Exec. The caller's particles are not needed after construction. Copies refer to the
/// same domain. The context must outlive it.
template <class Real>
class Domain {
 public:
  /// Collective. Throws InputError for positions and boxes that friends_of_friends() refuses, for
  /// weights of 0 or, with several ranks, of 2^62 and more in all, and if the ranks give different
  /// boxes or lengths, or only some of them give weights; OutOfMemory.
  Domain(const Context& context, const Particles<Real>& particles, const Box& box,
         const DomainOptions& options = {});
  /// The same for several species, at least one. All ranks give the same number of species.
  Domain(const Context& context, const std::vector<Particles<Real>>& species, const Box& box,
         const DomainOptions& options = {});
  Domain(Context&&, const Particles<Real>&, const Box&, const DomainOptions& = {}) = delete;
  Domain(Context&&, const std::vector<Particles<Real>>&, const Box&,
         const DomainOptions& = {}) = delete;

  /// Adds masses, velocities and types to a domain that was made of positions alone, so that they
  /// need memory only from now on. `species` are the particles of all species, in the order in
  /// which they were given. Their positions are not used and may be missing. Collective. InputError
  /// if the numbers of species, particles or dimensions differ. A call that fails changes nothing.
  void add_columns(const std::vector<Particles<Real>>& species);

  // Not collective. InputError for a species that does not exist.
  const Context& context() const;  ///< as given: the domain refers to it
  const Box& box() const;          ///< as given, in the unit of the positions
  int num_species() const;         ///< as given, the same on all ranks

  Index num(int species = 0) const;         ///< on this rank, in the domain
  Index num_origin(int species = 0) const;  ///< that this rank gave
  Index num_total(int species = 0) const;   ///< over all ranks
  Index first(int species = 0) const;  ///< index of this rank's first one in the Z-order of all
  Index num_wrapped() const;           ///< outside a periodic axis, over all species and ranks

  /// Coordinates in the box, in the caller's unit. Buffer::padding elements behind the end may be
  /// read. The first call makes them, and the domain keeps them besides its own.
  Span<const Real> position(int axis, int species = 0) const;
  /// Positions and columns as Particles, for functions that take these, such as paint() and
  /// readout(). A view: the domain must outlive it.
  Particles<Real> particles(int species = 0) const;
  /// Index of each particle in the caller's order over all ranks.
  Span<const Index> global_index(int species = 0) const;

  /// Brings a column into the domain's order. `column` is a Span or a Buffer, on the host also a
  /// vector, in memory of the context's Exec. It has one element for each particle that this rank
  /// gave, the result one for each particle that it holds. Collective. InputError if a size is
  /// wrong on some rank.
  template <class Column, class T = ElementOf<Column>>
  Buffer<T> to_domain_order(const Column& column, int species = 0) const {
    return together(context().comm, [&] {
      Buffer<T> to(context().exec, num(species), "a column in the domain's order");
      to_domain_order(column_view(span_of(column)), {to.data(), to.size(), sizeof(T)}, species);
      return to;
    });
  }
  /// The inverse of to_domain_order(). `values` has one element for each particle that this rank
  /// holds, the result one for each particle that it gave. Collective. InputError if a size is
  /// wrong on some rank.
  template <class Column, class T = ElementOf<Column>>
  Buffer<T> to_caller_order(const Column& values, int species = 0) const {
    return together(context().comm, [&] {
      Buffer<T> to(context().exec, num_origin(species), "a column in the caller's order");
      to_caller_order(column_view(span_of(values)), {to.data(), to.size(), sizeof(T)}, species);
      return to;
    });
  }

  /// Memory of the context's Exec with room for `num` elements.
  struct Target {
    void* data = nullptr;
    Index num = 0;
    Index element_size = 0;
  };
  /// The same for untyped columns. They write to memory of the caller, which may have room for more
  /// elements than needed, and must not overlap with the column. Elements may have any size, which
  /// is the same on all ranks; the column may have gaps. When a call returns, its work is done, on
  /// a device too. Collective. InputError on all ranks if a number or size of elements is wrong on
  /// some rank, or memory is missing, overlaps or is not of the Exec.
  void to_domain_order(const ColumnView& column, const Target& to, int species = 0) const;
  void to_caller_order(const ColumnView& values, const Target& to, int species = 0) const;

  /// For the library: the internals of the domain.
  const std::shared_ptr<DomainState<Real>>& state() const { return state_; }

 private:
  std::shared_ptr<DomainState<Real>> state_;
};

}  // namespace zhalo
