#include "zhalo/domain/domain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include <fmt/format.h>

#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/domain/positions.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/memory_need.hpp"
#include "zhalo/domain/particles.hpp"

namespace zhalo {
namespace {

/// First element of a column of rows of vectors; no rows may have no address.
template <class Real>
const Real* column_of(const Real* rows, int axis) {
  return rows == nullptr ? nullptr : rows + axis;
}

}  // namespace

template <class Real>
ParticleSegment<Real> ParticleSegment<Real>::interleaved(const Real* pos, Index num,
                                                         int dimensions) {
  validate(dimensions == 2 || dimensions == 3, "positions of {} dimensions (must have 2 or 3)",
           dimensions);
  ParticleSegment segment;
  segment.num = num;
  for (int axis = 0; axis < dimensions; ++axis) {
    segment.pos[static_cast<std::size_t>(axis)] = {column_of(pos, axis),
                                                   dimensions * static_cast<Index>(sizeof(Real))};
  }
  return segment;
}

template <class Real>
void ParticleSegment<Real>::set_interleaved_velocity(const Real* values, int dimensions) {
  validate(dimensions == 2 || dimensions == 3, "velocities of {} dimensions (must have 2 or 3)",
           dimensions);
  for (int axis = 0; axis < dimensions; ++axis) {
    velocity[static_cast<std::size_t>(axis)] = {column_of(values, axis),
                                                dimensions * static_cast<Index>(sizeof(Real))};
  }
}

template <class Real>
Index Particles<Real>::num() const {
  Index sum = 0;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Index num = segments[s].num;
    validate(num >= 0, "segment {} has {} particles (must not be negative)", s, num);
    // Before it is added, or the sum might overflow.
    validate(num <= max_local_particles - sum,
             "with segment {} this rank has more than {} particles, the most that one rank can "
             "hold; use more ranks",
             s, max_local_particles);
    sum += num;
  }
  return sum;
}

GlobalRange global_range(const Communicator& comm, Index num) {
  return {comm.exclusive_sum(num), comm.sum(num)};
}

template struct ParticleSegment<float>;
template struct ParticleSegment<double>;
template struct Particles<float>;
template struct Particles<double>;

template <class Real>
PositionCounts count_positions(const Context& context, const Particles<Real>& particles,
                               const Box& box, const PositionsOf& of) {
  return together(context, [&] {
    validate_box(box, particles.dimensions);
    validate_box_fits<Real>(box);
    for (const Box& other : context.comm.all_gather(box)) validate_same(box, other);
    const SegmentTable<Real> input(context.exec, particles);
    const Extent extent = examine_positions(context, input.view(), box, of);
    return PositionCounts{extent.range.total, extent.num_wrapped};
  });
}

ZHALO_FOR_REALS(count_positions);

namespace {

/// What ranks that send to each other must have in common. Returns whether they give weights.
bool validate_agreement(const Communicator& comm, const Box& box, std::size_t num_species,
                        double min_length, int weights) {
  struct Request {
    Box box;
    Index num_species;
    double min_length;
    int weights;  ///< 0 or 1; 2 where there is nothing to weigh
  };
  for (const Request& other :
       comm.all_gather(Request{box, static_cast<Index>(num_species), min_length, weights})) {
    validate_same(box, other.box);
    validate(other.num_species == static_cast<Index>(num_species),
             "the ranks do not give as many species: {} here, {} elsewhere", num_species,
             other.num_species);
    validate_same("min_length", min_length, other.min_length);
    if (other.weights == 2) continue;
    validate(weights == 2 || other.weights == weights, "some ranks give weights and others do not");
    weights = other.weights;
  }
  return weights == 1;
}

/// Says of several species which one it is.
PositionsOf positions_of(std::size_t species, std::size_t num_species) {
  if (num_species == 1) return {};
  return {fmt::format("particles of species {}", species), "particle"};
}

template <class Real>
std::shared_ptr<DomainState<Real>> make_shared_domain(const Context& context,
                                                      const std::vector<Particles<Real>>& species,
                                                      const Box& box,
                                                      const DomainOptions& options) {
  return together(context, [&] {
    validate(!species.empty(), "a domain needs at least one species of particles");
    std::vector<SpeciesInput<Real>> inputs;
    Index num = 0;
    for (const Particles<Real>& particles : species) {
      validate_box(box, particles.dimensions);
      inputs.push_back({particles, positions_of(inputs.size(), species.size())});
      num += particles.num();
    }
    validate_box_fits<Real>(box);
    validate(options.min_length >= 0, "min_length is {} (must not be negative)",
             options.min_length);
    const bool weighted = validate_agreement(context.comm, box, species.size(), options.min_length,
                                             num == 0 ? 2 : (options.weight ? 1 : 0));
    validate(species.size() == 1 || !options.weight, "several species cannot be weighed; give one");
    if (num > 0) validate_numbers(context.exec, options.weight, "weights");
    const Index total = context.comm.sum(num);
    const DeviceMemoryScope memory(
        context, fmt::format("a domain of {} particles", total), [=](int ranks) {
          return domain_need({total, ranks, std::is_same_v<Real, double>}).peak;
        });
    DomainRequest request;
    if (weighted) request.weight = options.weight;
    request.is_shared = true;
    request.min_length = options.min_length;
    auto state = make_domain(context, inputs, box, request);
    add_columns(*state, species);
    synchronise(context.exec);
    return state;
  });
}

template <class Real>
DomainSpecies<Real>& species_of(DomainState<Real>& state, int species) {
  validate_species(species, static_cast<int>(state.species.size()));
  return state.species[static_cast<std::size_t>(species)];
}

/// Sizes of a column that is to be moved, and of the room for it.
struct MovedSizes {
  Index num_from;
  Index num_to;
};

bool are_apart(const ColumnView& from, const void* to, Index num_to) {
  const auto begin_of = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
  const Index stride = from.stride_bytes != 0 ? from.stride_bytes : from.element_size;
  const Index reach = stride * (from.num - 1);  // negative where the stride is
  const auto begin = begin_of(from.data) + static_cast<std::uintptr_t>(std::min(reach, Index{0}));
  const auto size = static_cast<std::uintptr_t>(std::abs(reach) + from.element_size);
  const auto size_to = static_cast<std::uintptr_t>(num_to * from.element_size);
  return begin + size <= begin_of(to) || begin_of(to) + size_to <= begin;
}

template <class Real>
void validate_move(const Context& context, const ColumnView& from,
                   const typename Domain<Real>::Target& to, const MovedSizes& wanted) {
  validate_column(context.exec, from, wanted.num_from);
  validate(from.element_size == to.element_size,
           "elements of {} bytes cannot become elements of {}", from.element_size, to.element_size);
  validate(to.num >= wanted.num_to,
           "the column has {} elements on this rank, the memory given has room for {}",
           wanted.num_to, to.num);
  validate(context.comm.min(from.element_size) == context.comm.max(from.element_size),
           "the column's elements have different sizes on different ranks");
  if (wanted.num_to > 0) {
    validate(to.data != nullptr, "the room for a column's {} elements on this rank has no memory",
             wanted.num_to);
    validate(wanted.num_from == 0 || are_apart(from, to.data, wanted.num_to),
             "a column and the memory that it is to be moved to overlap; take two arrays");
    validate_memory(context.exec, to.data, "the room for values of a column");
  }
}

}  // namespace

template <class Real>
Domain<Real>::Domain(const Context& context, const Particles<Real>& particles, const Box& box,
                     const DomainOptions& options)
    : state_(make_shared_domain<Real>(context, {particles}, box, options)) {}

template <class Real>
Domain<Real>::Domain(const Context& context, const std::vector<Particles<Real>>& species,
                     const Box& box, const DomainOptions& options)
    : state_(make_shared_domain<Real>(context, species, box, options)) {}

template <class Real>
void Domain<Real>::add_columns(const std::vector<Particles<Real>>& species) {
  together(context(), [&] { zhalo::add_columns(*state_, species); });
}

template <class Real>
const Context& Domain<Real>::context() const {
  return state_->context;
}
template <class Real>
const Box& Domain<Real>::box() const {
  return state_->box;
}
template <class Real>
int Domain<Real>::num_species() const {
  return static_cast<int>(state_->species.size());
}

template <class Real>
Index Domain<Real>::num(int species) const {
  return species_of(*state_, species).particles.num();
}
template <class Real>
Index Domain<Real>::num_origin(int species) const {
  return species_of(*state_, species).particles.num_brought;
}
template <class Real>
Index Domain<Real>::num_total(int species) const {
  return species_of(*state_, species).extent.range.total;
}
template <class Real>
Index Domain<Real>::first(int species) const {
  return species_of(*state_, species).particles.first;
}
template <class Real>
Index Domain<Real>::num_wrapped() const {
  return state_->num_wrapped();
}

template <class Real>
Span<const Real> Domain<Real>::position(int axis, int species) const {
  validate(axis >= 0 && axis < 3, "there is no axis {} (0 to 2)", axis);
  DomainSpecies<Real>& of = species_of(*state_, species);
  if (state_->key_frame.frame.scale == 1) return of.particles.sorted.pos[axis].span();
  if (of.unscaled[axis].empty()) unscale(state_->context.exec, of.particles.sorted, of.unscaled);
  return of.unscaled[axis].span();
}

template <class Real>
Particles<Real> Domain<Real>::particles(int species) const {
  Particles<Real> view;
  view.dimensions = state_->box.dimensions;
  ParticleSegment<Real> segment;
  segment.num = num(species);
  for (int axis = 0; axis < view.dimensions; ++axis)
    segment.pos[static_cast<std::size_t>(axis)] = {position(axis, species).data()};
  const ParticleColumns<Real>& columns = species_of(*state_, species).columns;
  columns.show_in(segment, view.dimensions);
  view.segments = {segment};
  view.uniform_mass = columns.uniform_mass();
  return view;
}

template <class Real>
Span<const Index> Domain<Real>::global_index(int species) const {
  const DomainSpecies<Real>& of = species_of(*state_, species);
  if (of.particles.global_index.size() != of.particles.num()) {  // on one rank
    ensure_global_index(*state_, species);
    synchronise(state_->context.exec);
  }
  return of.particles.global_index.span();
}

template <class Real>
void Domain<Real>::to_domain_order(const ColumnView& column, const Target& to, int species) const {
  const Context& context = state_->context;
  together(context, [&] {
    const Distribution<Real>& of = species_of(*state_, species).particles;
    validate_move<Real>(context, column, to, {of.num_brought, of.num()});
    of.redistribution.forward(context, {{column, to.data}});
    synchronise(context.exec);
  });
}

template <class Real>
void Domain<Real>::to_caller_order(const ColumnView& values, const Target& to, int species) const {
  const Context& context = state_->context;
  together(context, [&] {
    const Distribution<Real>& of = species_of(*state_, species).particles;
    validate_move<Real>(context, values, to, {of.num(), of.num_brought});
    Buffer<std::byte> packed;
    of.redistribution.backward(context, {without_gaps(context.exec, values, packed), to.data});
    synchronise(context.exec);
  });
}

template class Domain<float>;
template class Domain<double>;

}  // namespace zhalo
