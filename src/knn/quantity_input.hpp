/// Masses and velocities as quantities of neighbours need them.
#pragma once

#include <optional>
#include <vector>

#include "kernels/knn.hpp"
#include "zhalo/knn/neighbour_lists.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo {

/// If all particles of all ranks have one mass, no column of masses is needed. Collective.
/// InputError if that is negative or not finite.
template <class Real>
std::optional<kernels::EqualMasses> equal_masses_of(const Context& context,
                                                    const Particles<Real>& particles);

/// Columns of this rank's particles, one behind the other, as double: those that at least one of
/// the quantities needs. In memory of the context's Exec.
template <class Real>
class QuantityInput {
 public:
  /// Positions are not looked at.
  QuantityInput(const Context& context, const Particles<Real>& particles,
                const std::optional<kernels::EqualMasses>& equal_masses,
                const QuantityNeeds& needs);

  /// InputError if a mass of the targets, whose columns these are, is negative or not finite.
  /// Collective.
  void validate_masses(const Context& context, const KnnTargets<Real>& targets) const;

  const std::vector<ColumnView>& columns() const { return columns_; }

  /// Gives their memory back. A search of particles that are in no domain has copies in its own
  /// order.
  void release();

  /// The columns at the neighbours, in a search that has them from number `first` on.
  kernels::QuantityColumns at_neighbours(const NeighbourLists<Real>& lists, int first) const;

 private:
  void pack(const Context& context, const Particles<Real>& particles);

  int dimensions_;
  std::optional<kernels::EqualMasses> equal_masses_;
  Buffer<double> mass_;
  Buffer<double> velocity_;
  bool all_masses_positive_ = true;  ///< on this rank
  std::vector<ColumnView> columns_;
};

}  // namespace zhalo
