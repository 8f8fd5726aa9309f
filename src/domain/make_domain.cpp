#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/on.hpp"
#include "kernels/sort.hpp"
#include "src/core/host_copies.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/domain/redistribution.hpp"

namespace zhalo {
namespace {

/// Coordinates are of the order of this power of two: then squares of any differences that they can
/// have neither overflow nor, but for coordinates that are next to 0, underflow. A search length
/// that is larger counts as a coordinate does, unless it is so large that precision would be lost.
template <class Real>
constexpr int wanted_exponent = std::is_same_v<Real, float> ? 60 : 500;

template <class Real>
double scale_of(const Box& box, const Extent& extent, double min_length) {
  double largest = largest_coordinate(box, extent);
  if (largest == 0) return 1;
  largest = std::max(largest, std::min(min_length, std::ldexp(largest, 30)));
  constexpr int max_exponent = std::numeric_limits<double>::max_exponent - 1;
  return std::ldexp(
      1.0, std::clamp(wanted_exponent<Real> - std::ilogb(largest), -max_exponent, max_exponent));
}

/// The extent of both.
Extent around(Extent a, const Extent& b) {
  for (int axis = 0; axis < 3; ++axis) {
    a.lo[axis] = std::min(a.lo[axis], b.lo[axis]);
    a.hi[axis] = std::max(a.hi[axis], b.hi[axis]);
  }
  a.range.total += b.range.total;
  return a;
}

/// Bounds without periodicity are for particles; query points may lie beyond them.
Box without_walls(Box box) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!box.periodic[axis]) box.lo[axis] = box.length[axis] = 0;
  }
  return box;
}

/// The keys of all species, one behind the other.
template <class Real>
Buffer<std::uint64_t> keys_of_all(const Exec& exec, const std::vector<SortedColumns<Real>>& all) {
  Index num = 0;
  for (const SortedColumns<Real>& one : all) num += one.keys.size();
  validate(num <= max_local_particles,
           "a rank holds {} particles of all species, the most is {}; use more ranks", num,
           max_local_particles);
  Buffer<std::uint64_t> keys(exec, num, "keys of all species");
  Index at = 0;
  for (const SortedColumns<Real>& one : all) {
    queue_copy(exec, keys.data() + at, one.keys.data(),
               static_cast<std::size_t>(one.keys.size()) * sizeof(std::uint64_t));
    at += one.keys.size();
  }
  return keys;
}

/// How many elements [first, first + num) of the former order lie before each cut of the new one.
std::vector<Index> count_before(const Exec& exec, Span<const LocalIndex> order, Share elements,
                                const std::vector<Index>& cuts) {
  Buffer<LocalIndex> is_one(exec, order.size(), "one of several species");
  Buffer<Index> before(exec, order.size() + 1, "one of several species");
  kernels::on(exec, [&](const auto& e) {
    kernels::fill(e, is_one.span(), LocalIndex{0});
    kernels::fill(e, is_one.span().subspan(elements.first, elements.count), LocalIndex{1});
    kernels::accumulate_weights(e, {is_one.data()}, order, before.span());
  });
  std::vector<Index> counts(cuts.size());
  HostCopies copies(exec);
  for (std::size_t i = 0; i < cuts.size(); ++i)
    copies.add(Span<const Index>(before.span().subspan(cuts[i], 1)), &counts[i]);
  copies.wait();
  return counts;
}

/// Cuts the Z-order of all species together, so that those that are near each other meet, and none
/// can pile up on a rank.
template <class Real>
std::vector<ExchangePlan> cut_jointly(const Context& context,
                                      const std::vector<SortedColumns<Real>>& all, int bits) {
  Buffer<std::uint64_t> keys = keys_of_all(context.exec, all);
  const Buffer<LocalIndex> order = sort_indices(context.exec, keys.span(), bits);
  const std::vector<Index> cuts = plan_even_parts(context, {keys.span(), bits}).send_offset;
  std::vector<ExchangePlan> plans;
  Index first = 0;
  for (const SortedColumns<Real>& one : all) {
    const std::vector<Index> before =
        count_before(context.exec, order.span(), {first, one.keys.size()}, cuts);
    std::vector<Index> counts;
    for (std::size_t r = 0; r + 1 < before.size(); ++r) counts.push_back(before[r + 1] - before[r]);
    plans.push_back(context.comm.plan_exchange(counts));
    first += one.keys.size();
  }
  return plans;
}

/// The views and extents of all species.
template <class Real>
struct Examined {
  std::vector<SegmentTable<Real>> particles;
  std::vector<Extent> extents;
  std::vector<Real> sample;  ///< of the only species that is no query points; or none
  Extent all;

  Examined(const Context& context, const std::vector<SpeciesInput<Real>>& inputs, const Box& box) {
    const PhaseTimer timer(context, "bounds");
    for (const SpeciesInput<Real>& input : inputs) {
      particles.emplace_back(context.exec, input.particles);
      const Box bounds = input.may_lie_outside ? without_walls(box) : box;
      const kernels::ParticlesView<Real>& view = particles.back().view();
      if (extents.empty()) {
        std::tie(all, sample) = examine_and_sample(context, view, bounds, input.of);
        extents.push_back(all);
        continue;
      }
      if (!input.may_lie_outside) sample.clear();  // the others may be anywhere
      extents.push_back(examine_positions(context, view, bounds, input.of));
      all = around(all, extents.back());
    }
  }
};

template <class Real>
KeyFrameChoice choose_cells(const Box& box, const Extent& first, const Extent& all,
                            double min_length) {
  // Cells are those of the first species: query points far out would make them coarse. Their keys
  // are those of the outermost cells.
  const Extent& of_cells = first.range.total > 0 ? first : all;
  const double cell = clump_cell(min_length, box.dimensions);
  return choose_key_frame(box, of_cells, cell, scale_of<Real>(box, all, min_length));
}

}  // namespace

template <class Real>
Index DomainState<Real>::num_wrapped() const {
  Index sum = 0;
  for (const DomainSpecies<Real>& one : species) sum += one.extent.num_wrapped;
  return sum;
}

template <class Real>
std::shared_ptr<DomainState<Real>> make_domain(const Context& context,
                                               const std::vector<SpeciesInput<Real>>& inputs,
                                               const Box& box, const DomainRequest& request) {
  const Examined<Real> examined(context, inputs, box);
  const Extent& first = examined.extents.front();
  auto state = std::make_shared<DomainState<Real>>(DomainState<Real>{context, box, {}, {}});
  state->is_shared = request.is_shared;
  const KeyFrameChoice usual =
      request.choose ? request.choose(first, examined.all)
                     : choose_cells<Real>(box, first, examined.all, request.min_length);
  state->key_frame = around_most(context.comm, examined.sample, usual);
  const kernels::KeyFrame& frame = state->key_frame.frame;
  state->species.resize(inputs.size());
  for (std::size_t s = 0; s < inputs.size(); ++s) state->species[s].extent = examined.extents[s];
  if (inputs.size() == 1) {
    state->species[0].particles =
        distribute_particles(context, examined.particles[0].view(), frame, request.weight);
    return state;
  }
  std::vector<SortedColumns<Real>> sorted;
  for (const SegmentTable<Real>& one : examined.particles)
    sorted.push_back(sort_particles(context, one.view(), frame));
  std::vector<ExchangePlan> plans(inputs.size());
  if (context.comm.size() > 1) plans = cut_jointly(context, sorted, frame.key_bits());
  for (std::size_t s = 0; s < inputs.size(); ++s)
    state->species[s].particles = distribute_sorted(context, std::move(sorted[s]), plans[s]);
  return state;
}

template <class Real>
void ensure_keys(DomainState<Real>& state, int species) {
  const Exec& exec = state.context.exec;
  SortedColumns<Real>& sorted = state.species[static_cast<std::size_t>(species)].particles.sorted;
  const Index num = sorted.pos[0].size();
  if (sorted.keys.size() == num) return;
  sorted.keys = Buffer<std::uint64_t>(exec, num, "keys");
  kernels::on(exec, [&](const auto& e) {
    kernels::make_keys_of_sorted(e, sorted.positions(), sorted.frame, sorted.keys.span());
  });
  synchronise(exec);
}

template <class Real>
void ensure_global_index(DomainState<Real>& state, int species) {
  const Exec& exec = state.context.exec;
  Distribution<Real>& particles = state.species[static_cast<std::size_t>(species)].particles;
  if (particles.global_index.size() == particles.num()) return;
  particles.global_index = Buffer<Index>(exec, particles.num(), "global indices");
  kernels::on(exec, [&](const auto& e) {
    kernels::shift(e, particles.redistribution.sent(), 0, particles.global_index.span());
  });
}

template <class Real>
void add_columns(DomainState<Real>& state, const std::vector<Particles<Real>>& species) {
  validate(species.size() == state.species.size(),
           "columns of {} species are given for a domain of {}", species.size(),
           state.species.size());
  for (std::size_t s = 0; s < species.size(); ++s) {
    const Index num = state.species[s].particles.num_brought;
    validate(species[s].dimensions == state.box.dimensions,
             "columns of particles in {} dimensions are given for a domain in {}",
             species[s].dimensions, state.box.dimensions);
    validate(species[s].num() == num,
             "columns of {} particles are given, the domain has {} of them", species[s].num(), num);
  }
  const std::vector<ColumnTraits> traits = agree_on_columns(state.context, species);
  ColumnTraits of_all;
  for (const ColumnTraits& of_species : traits) of_all.add(of_species);
  auto columns = together(state.context.comm, [&] {
    const PhaseTimer timer(state.context, "columns");
    std::vector<ParticleColumns<Real>> brought;
    for (std::size_t s = 0; s < species.size(); ++s) {
      brought.emplace_back(state.context, species[s], traits[s],
                           state.species[s].particles.redistribution);
    }
    return brought;
  });
  // Nothing fails on any rank from here on: a call that failed has changed nothing.
  for (std::size_t s = 0; s < species.size(); ++s) state.species[s].columns = std::move(columns[s]);
  state.has_velocities = of_all.all_have_velocity();
  state.only_mass.reset();
  state.only_type.reset();
  if (of_all.has_one_mass() && of_all.some_lack_mass()) state.only_mass = of_all.max_uniform_mass;
  if (of_all.has_one_type()) state.only_type = of_all.min_type;
}

template <class Real>
Particles<Real> stored_particles(const DomainState<Real>& state) {
  Particles<Real> all;
  all.dimensions = state.box.dimensions;
  all.uniform_mass = state.only_mass.value_or(1);
  for (const DomainSpecies<Real>& species : state.species) {
    ParticleSegment<Real> segment;
    segment.num = species.particles.num();
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(all.dimensions); ++axis)
      segment.pos[axis] = {species.particles.sorted.pos[axis].data()};
    species.columns.show_in(segment, all.dimensions);
    if (!segment.mass && !state.only_mass) segment.mass = species.columns.one_mass();
    all.segments.push_back(segment);
  }
  return all;
}

template <class Real>
void unscale(const Exec& exec, SortedColumns<Real>& sorted, Buffer<Real> (&to)[3]) {
  const Index num = sorted.pos[0].size();
  kernels::SegmentView<Real> segment;
  segment.num = num;
  Buffer<Real> made[3];  // `to` stays empty if anything fails
  for (int axis = 0; axis < 3; ++axis) {
    segment.pos[axis] = {sorted.pos[axis].data()};
    made[axis] = Buffer<Real>(exec, num, "positions in the caller's unit");
  }
  const auto segments =
      to_exec(exec, Span<const kernels::SegmentView<Real>>(&segment, 1), "table of segments");
  kernels::ParticlesView<Real> view;
  view.segments = segments.span();
  view.num = num;
  kernels::KeyFrame frame;
  frame.scale = 1 / sorted.frame.scale;
  Buffer<LocalIndex> order(exec, num, "indices of particles");
  kernels::on(exec, [&](const auto& e) {
    kernels::number(e, order.span());
    kernels::gather_positions(e, view, frame, Span<const LocalIndex>(order.span()),
                              {{made[0].data(), made[1].data(), made[2].data()}, num});
  });
  synchronise(exec);
  std::move(made, made + 3, to);
}

template struct DomainState<float>;
template struct DomainState<double>;
ZHALO_FOR_REALS(make_domain);
ZHALO_FOR_REALS(unscale);
ZHALO_FOR_REALS(ensure_keys);
ZHALO_FOR_REALS(ensure_global_index);
template void add_columns(DomainState<float>&, const std::vector<Particles<float>>&);
template void add_columns(DomainState<double>&, const std::vector<Particles<double>>&);
ZHALO_FOR_REALS(stored_particles);

}  // namespace zhalo
