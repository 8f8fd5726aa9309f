/// Members in group order, in even parts over the ranks.
#pragma once

#include "kernels/particles.hpp"
#include "src/domain/redistribution.hpp"
#include "zhalo/catalogue/catalogue.hpp"

namespace zhalo {

/// This rank's part of the members of all groups.
struct Members {
  Buffer<std::uint64_t> row;                       ///< of each member, ascending
  std::shared_ptr<Redistribution> redistribution;  ///< from the caller's order to group order

  /// Of each member: among the particles of this rank, or (several ranks) among those that came.
  Span<const LocalIndex> index(const Communicator& comm) const {
    return comm.size() == 1 ? redistribution->sent() : redistribution->arrived();
  }
};

/// Puts the members of groups into their order: by row, then by global index. Collective.
Members order_members(const Context& context, Span<const Index> group_of, Index num_groups);

/// Global indices of the members. Collective.
Buffer<Index> global_indices(const Context& context, const Members& members, Index first_index);

/// The particles to which Members::index refers: those of the caller, or copies of those that came.
template <class Real>
class MemberParticles {
 public:
  /// Collective. `particles` and their view must outlive it.
  MemberParticles(const Context& context, const Particles<Real>& particles,
                  const kernels::ParticlesView<Real>& view, const Redistribution& redistribution);
  const kernels::ParticlesView<Real>& view() const { return view_; }

 private:
  kernels::ParticlesView<Real> view_;
  Buffer<Real> pos_;
  Buffer<float> velocity_float_, mass_float_;
  Buffer<double> velocity_, mass_;
  Buffer<std::uint8_t> type_;
  Buffer<kernels::SegmentView<Real>> segments_;
};

}  // namespace zhalo
