#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/knn/row_search.hpp"
#include "zhalo/knn/reduce.hpp"

namespace zhalo {
namespace {

template <class Real>
void validate_velocities(const Particles<Real>& particles) {
  for (std::size_t s = 0; s < particles.segments.size(); ++s) {
    const ParticleSegment<Real>& segment = particles.segments[s];
    for (std::size_t axis = 0;
         segment.num > 0 && axis < static_cast<std::size_t>(particles.dimensions); ++axis)
      validate(static_cast<bool>(segment.velocity[axis]),
               "segment {} has no velocities on axis {}, which this quantity needs", s, axis);
  }
}

/// Zero, too: such a neighbour adds nothing.
bool is_weight(double mass) { return std::isfinite(mass) && mass >= 0; }

}  // namespace

template <class Real>
std::optional<kernels::EqualMasses> equal_masses_of(const Context& context,
                                                    const Particles<Real>& particles) {
  context.comm.together([&] { SegmentTable<Real>(context.exec, particles, false); });  // validates
  const ColumnTraits traits =
      agree_on_columns(context, std::vector<Particles<Real>>{particles}).front();
  if (!traits.has_one_mass()) return std::nullopt;
  // Without any particles there is no mass.
  if (!traits.some_lack_mass()) return kernels::EqualMasses{particles.uniform_mass};
  const double mass = traits.max_uniform_mass;
  validate(is_weight(mass),
           "all particles have a mass of {} (must be finite and not negative); give masses, or "
           "repair the snapshot",
           mass);
  return kernels::EqualMasses{mass};
}

template <class Real>
QuantityInput<Real>::QuantityInput(const Context& context, const Particles<Real>& particles,
                                   const std::optional<kernels::EqualMasses>& equal_masses,
                                   const QuantityNeeds& needs)
    : dimensions_(particles.dimensions), equal_masses_(equal_masses) {
  const Index num = particles.num();
  if (needs.masses) {
    mass_ = Buffer<double>(context.exec, num, "masses");
    columns_.push_back(column_view(mass_));
  }
  if (needs.velocities) {
    validate_velocities(particles);
    velocity_ = Buffer<double>(context.exec, num * dimensions_, "velocities");
    columns_.push_back({velocity_.data(), num, static_cast<Index>(sizeof(double)) * dimensions_});
  }
  if (!columns_.empty()) pack(context, particles);
}

template <class Real>
void QuantityInput<Real>::pack(const Context& context, const Particles<Real>& particles) {
  constexpr int any_type = 256;
  const SegmentTable<Real> on_exec(context.exec, particles, false);
  Buffer<kernels::ColumnSummary> summary(context.exec, 1, "masses");
  kernels::PackedColumns<Real> to;
  to.mass = mass_.span();
  to.velocity = velocity_.span();
  kernels::on(context.exec, [&](const auto& e) {
    kernels::pack_all(e, on_exec.view(), to);
    if (!mass_.empty()) kernels::summarize_columns(e, on_exec.view(), {}, any_type, summary.data());
  });
  if (mass_.empty()) return synchronise(context.exec);
  all_masses_positive_ = to_host(context.exec, summary).front().num_bad_mass == 0;
}

template <class Real>
void QuantityInput<Real>::validate_masses(const Context& context,
                                          const KnnTargets<Real>& targets) const {
  const Communicator& comm = context.comm;
  if (comm.min(Index{all_masses_positive_}) == 1) return;
  const std::vector<double> mass = to_host(context.exec, mass_);
  const Index first_of_rank = global_range(comm, mass_.size()).first;
  std::vector<Index> global_index;
  if (targets.domain != nullptr)
    global_index = to_host(context.exec, targets.domain->global_index(targets.species.targets));
  Index num_bad = 0, first_bad = std::numeric_limits<Index>::max();
  for (std::size_t i = 0; i < mass.size(); ++i) {
    if (is_weight(mass[i])) continue;
    ++num_bad;
    first_bad = std::min(
        first_bad, global_index.empty() ? first_of_rank + static_cast<Index>(i) : global_index[i]);
  }
  const NumAndFirst bad = bad_of_ranks(comm, num_bad, first_bad);
  validate(bad.num == 0,
           "{} of {} particles have a mass that is negative or not finite (NaN or infinite), the "
           "first is particle {}; give masses, or repair the snapshot",
           bad.num, comm.sum(mass_.size()), bad.first);
}

template <class Real>
void QuantityInput<Real>::release() {
  mass_ = Buffer<double>();
  velocity_ = Buffer<double>();
}

template <class Real>
kernels::QuantityColumns QuantityInput<Real>::at_neighbours(const NeighbourLists<Real>& lists,
                                                            int first) const {
  kernels::QuantityColumns at_neighbours;
  at_neighbours.dimensions = dimensions_;
  at_neighbours.equal_masses = equal_masses_;
  std::size_t next = 0;
  if (!equal_masses_ && !columns_.empty()) {
    at_neighbours.mass = lists.template column<double>(first);
    ++next;
  }
  if (next < columns_.size()) {
    const int number = first + static_cast<int>(next);
    at_neighbours.velocity =
        lists.column_view(number, columns_[next].element_size).template as<double>();
  }
  return at_neighbours;
}

ZHALO_FOR_REALS(equal_masses_of);
template class QuantityInput<float>;
template class QuantityInput<double>;

QuantityNeeds needs_of(Quantity quantity) {
  validate_enumerator(quantity, Quantity::velocity_dispersion, "a quantity of neighbours");
  const int num = kernels::num_columns({quantity});
  return {num > 0, num > 1};
}

QuantityNeeds needs_of(const std::vector<QuantityOptions>& quantities) {
  QuantityNeeds all;
  for (const QuantityOptions& wanted : quantities) {
    const QuantityNeeds needs = needs_of(wanted.quantity);
    all.masses = all.masses || needs.masses;
    all.velocities = all.velocities || needs.velocities;
  }
  return all;
}

}  // namespace zhalo
