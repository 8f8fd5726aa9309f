/// Particles of all ranks in Z-order (Morton 1966), in even parts: sorted once, used by many.
#pragma once

#include <memory>
#include <vector>

#include "zhalo/core/box.hpp"
#include "zhalo/core/strided.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {

struct DomainOptions {
  /// Weights of the particles, in the caller's order and each at least 1. Then each rank gets a
  /// part of equal weight; without weights it gets a part of equal number.
  Strided<std::uint32_t> weight{nullptr};
  /// The smallest linking length or radius that the domain will be searched with; 0: any. Keys then
  /// distinguish no cells much smaller than that, and sorting takes less time. Smaller lengths give
  /// right results, too.
  double min_length = 0;
};

template <class Real>
struct DomainState;

/// The particles of all ranks, sorted by Morton key (63 bits in 3-D, 62 in 2-D, over the periodic
/// box or the extent of the particles) and then by global index. Each rank holds one part of that
/// order. The numbers of the ranks differ by at most one, whatever the particles.
///
///   const Domain<float> domain(context, particles, box);
///   const FofResult groups = friends_of_friends(domain, {.linking_length = b});
///   const Buffer<Index> labels = domain.to_caller_order(groups.label.span());
///
/// Several species may share a domain: they are cut at the same keys, each keeps its own order.
///
/// A domain has the columns of its particles, too: mass, velocity, type.
///
/// Everything that takes a domain leaves its results in the domain's order; to_caller_order()
/// brings them to the caller's order and rank. A domain owns its memory, in that of the context's
/// Exec. The caller's particles are not needed after it is made. Copies are handles of the same
/// domain. The context must outlive it.
template <class Real>
class Domain {
 public:
  /// Collective. Throws InputError as friends_of_friends for positions and box, for weights of 0,
  /// and if the ranks do not give the same box, or weights all or none; OutOfMemory.
  Domain(const Context& context, const Particles<Real>& particles, const Box& box,
         const DomainOptions& options = {});
  /// Several species, at least one; all ranks give as many. Only one may have weights.
  Domain(const Context& context, const std::vector<Particles<Real>>& species, const Box& box,
         const DomainOptions& options = {});
  Domain(Context&&, const Particles<Real>&, const Box&, const DomainOptions& = {}) = delete;
  Domain(Context&&, const std::vector<Particles<Real>>&, const Box&,
         const DomainOptions& = {}) = delete;

  /// Brings masses, velocities and types after the domain was made of positions alone, so that they
  /// need memory only from now on. Particles of all species, in the order in which they were given;
  /// their positions are not looked at and may be missing. Collective. InputError if the numbers of
  /// particles differ.
  void bring_columns(const std::vector<Particles<Real>>& species);

  const Context& context() const;
  const Box& box() const;
  int num_species() const;

  Index num(int species = 0) const;         ///< on this rank, in the domain
  Index num_origin(int species = 0) const;  ///< that this rank brought
  Index num_total(int species = 0) const;   ///< over all ranks
  Index first(int species = 0) const;  ///< index of this rank's first one in the Z-order of all
  Index num_wrapped() const;           ///< of all species and ranks: outside a periodic axis

  /// Coordinates in the box, in the unit of the caller. Arrays have room behind their end
  /// (Buffer::padding) that may be read.
  Span<const Real> position(int axis, int species = 0) const;
  /// Positions and columns as particles, for calls that take any: painting, reading a field out. A
  /// view: the domain must outlive it.
  Particles<Real> particles(int species = 0) const;
  /// Index of each particle in the caller's order over all ranks.
  Span<const Index> global_index(int species = 0) const;

  /// Brings a column into the domain's order: one element for each particle that this rank brought
  /// becomes one for each that it has. Collective. InputError if a size is wrong on some rank.
  template <class T>
  Buffer<T> to_domain_order(Span<const T> column, int species = 0) const {
    return together(context().comm, [&] {
      Buffer<T> to(context().exec, num(species), "a column in the domain's order");
      to_domain_order(column_view(column), {to.data(), to.size(), sizeof(T)}, species);
      return to;
    });
  }
  /// The way back: one element for each particle that this rank has becomes one for each that it
  /// brought. Collective. InputError if a size is wrong on some rank.
  template <class T>
  Buffer<T> to_caller_order(Span<const T> values, int species = 0) const {
    return together(context().comm, [&] {
      Buffer<T> to(context().exec, num_origin(species), "a column in the caller's order");
      to_caller_order(column_view(values), {to.data(), to.size(), sizeof(T)}, species);
      return to;
    });
  }

  template <class T>
  Buffer<T> to_domain_order(const Buffer<T>& column, int species = 0) const {
    return to_domain_order(Span<const T>(column.span()), species);
  }
  template <class T>
  Buffer<T> to_caller_order(const Buffer<T>& values, int species = 0) const {
    return to_caller_order(Span<const T>(values.span()), species);
  }

  /// Memory of the context's Exec with room for `num` elements.
  struct Target {
    void* data = nullptr;
    Index num = 0;
    Index element_size = 0;
  };
  /// The same without the type, to memory of the caller's, which may have room for more than is
  /// needed.
  void to_domain_order(const ColumnView& column, const Target& to, int species = 0) const;
  void to_caller_order(const ColumnView& values, const Target& to, int species = 0) const;

  /// For the library: what a domain is made of.
  const std::shared_ptr<DomainState<Real>>& state() const { return state_; }

 private:
  std::shared_ptr<DomainState<Real>> state_;
};

extern template class Domain<float>;
extern template class Domain<double>;

}  // namespace zhalo
