#include "src/knn/placed_particles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/on.hpp"
#include "kernels/sort.hpp"
#include "src/core/synchronise.hpp"
#include "src/core/validate.hpp"
#include "src/domain/balance.hpp"

namespace zhalo {
namespace {

/// Coordinates are of the order of this power of two: then squares of any differences that they can
/// have neither overflow nor, but for coordinates that are next to 0, underflow.
template <class Real>
constexpr int wanted_exponent = std::is_same_v<Real, float> ? 60 : 500;

template <class Real>
double scale_of(const Box& box, const Extent& extent) {
  double largest = 0;
  for (int axis = 0; axis < box.dimensions; ++axis) {
    if (box.periodic[axis]) largest = std::max(largest, std::abs(box.lo[axis]) + box.length[axis]);
    if (!box.periodic[axis] && extent.range.total > 0)
      largest = std::max({largest, std::abs(extent.lo[axis]), std::abs(extent.hi[axis])});
  }
  if (largest == 0) return 1;
  constexpr int most = std::numeric_limits<double>::max_exponent - 1;
  return std::ldexp(1.0, std::clamp(wanted_exponent<Real> - std::ilogb(largest), -most, most));
}

/// The extent of both; counts of the first.
Extent around(Extent a, const Extent& b) {
  for (int axis = 0; axis < 3; ++axis) {
    a.lo[axis] = std::min(a.lo[axis], b.lo[axis]);
    a.hi[axis] = std::max(a.hi[axis], b.hi[axis]);
  }
  a.num_wrapped += b.num_wrapped;
  a.range.total += b.range.total;
  return a;
}

/// Bounds without periodicity are for particles; queries may lie beyond them.
Box without_walls(Box box) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!box.periodic[axis]) box.lo[axis] = box.length[axis] = 0;
  }
  return box;
}

Buffer<Index> all_indices(const Exec& exec, Span<const LocalIndex> order) {
  Buffer<Index> indices(exec, order.size(), "global indices");
  kernels::on(exec, [&](const auto& e) { kernels::make_global(e, order, 0, indices.span()); });
  return indices;
}

/// On one rank nothing travels.
template <class Real>
PlacedParticles<Real> keep(const Context& context, SortedParticles<Real> sorted,
                           const std::vector<TravellingColumn>& columns) {
  const Exec& exec = context.exec;
  PlacedParticles<Real> placed{std::move(sorted), {}, {}, {}, {0}};
  const Span<const LocalIndex> order = placed.sorted.order.span();
  placed.num_brought = order.size();
  placed.received_offset = {0, order.size()};
  placed.global_index = all_indices(exec, order);
  for (const TravellingColumn& column : columns) {
    placed.columns.emplace_back(exec, order.size() * column.element_size, "columns in Z-order");
    const kernels::MovedColumn moved{column.data, placed.columns.back().data(), column.element_size,
                                     column.stride_bytes};
    kernels::on(exec, [&](const auto& e) { kernels::gather(e, moved, order); });
  }
  synchronise(exec);
  return placed;
}

template <class Real>
PlacedParticles<Real> bring(const Context& context, SortedParticles<Real> sorted,
                            const ExchangePlan& plan,
                            const std::vector<TravellingColumn>& columns) {
  const Index num_brought = sorted.order.size();
  std::vector<Index> first_index =
      context.comm.all_gather(global_range(context.comm, num_brought).first);
  DistributedParticles<Real> distributed =
      distribute_sorted(context, std::move(sorted), plan, columns);
  return {std::move(distributed.sorted),  std::move(distributed.global_index),
          std::move(distributed.columns), std::move(distributed.plan.receive_offset),
          std::move(first_index),         num_brought};
}

/// How many of the elements that go to each rank are particles, and how many queries.
struct JointCounts {
  std::vector<Index> particles;
  std::vector<Index> queries;
};

/// Cuts the Z-order of particles and queries together, so that queries meet the particles around
/// them, and neither can pile up on a rank.
JointCounts cut_jointly(const Context& context, Span<const std::uint64_t> particles,
                        Span<const std::uint64_t> queries, int bits) {
  const Exec& exec = context.exec;
  const Index num = particles.size() + queries.size();
  validate(num <= max_local_particles,
           "a rank holds {} particles and queries, the most is {}; use more ranks", num,
           max_local_particles);
  Buffer<std::uint64_t> keys(exec, num, "keys of particles and queries");
  copy_bytes(exec, keys.data(), particles.data(),
             static_cast<std::size_t>(particles.size()) * sizeof(std::uint64_t));
  copy_bytes(exec, keys.data() + particles.size(), queries.data(),
             static_cast<std::size_t>(queries.size()) * sizeof(std::uint64_t));
  const Buffer<LocalIndex> order = sort_indices(exec, keys.span(), bits);
  const ExchangePlan plan = plan_even_parts(context, {keys.span(), bits});

  std::vector<std::uint32_t> is_particle(static_cast<std::size_t>(num));
  std::fill_n(is_particle.begin(), particles.size(), 1U);
  const auto flags =
      to_exec(exec, Span<const std::uint32_t>(is_particle), "particles among queries");
  Buffer<Index> before(exec, num + 1, "particles among queries");
  kernels::on(exec, [&](const auto& e) {
    kernels::accumulate_weights(e, {flags.data(), sizeof(std::uint32_t)}, order.span(),
                                before.span());
  });
  const auto particles_before = [&](Index place) {
    Index value = 0;
    copy_bytes(exec, &value, before.data() + place, sizeof value);
    return value;
  };
  JointCounts counts;
  for (std::size_t r = 0; r + 1 < plan.send_offset.size(); ++r) {
    const Index first = plan.send_offset[r];
    const Index last = plan.send_offset[r + 1];
    counts.particles.push_back(particles_before(last) - particles_before(first));
    counts.queries.push_back(last - first - counts.particles.back());
  }
  return counts;
}

}  // namespace

template <class Real>
SearchInput<Real> place_particles(const Context& context, const SearchedParticles<Real>& searched,
                                  const Box& box, const std::vector<TravellingColumn>& columns) {
  SearchCounts counts;
  const Particles<Real>* queries = searched.queries;
  const DeviceParticles<Real> on_exec(context.exec, searched.particles);
  const DeviceParticles<Real> queries_on_exec(
      context.exec, queries != nullptr ? *queries : Particles<Real>{box.dimensions, 1, {}});
  const Extent of_particles = examine_positions(context, on_exec.view(), box);
  counts.num_particles = counts.num_queries = of_particles.range.total;
  Extent of_both = of_particles;
  if (queries != nullptr) {
    const Extent of_queries = examine_positions(context, queries_on_exec.view(), without_walls(box),
                                                {"queries", "query"});
    counts.num_queries = of_queries.range.total;
    of_both = around(of_particles, of_queries);
  }
  counts.num_wrapped = of_both.num_wrapped;
  // Cells are those of the particles: queries far out would make them coarse. Their keys are those
  // of the outermost cells.
  const Extent& of_cells = counts.num_particles > 0 ? of_particles : of_both;
  const kernels::KeyFrame frame =
      choose_key_frame(box, of_cells, 0, scale_of<Real>(box, of_both)).frame;
  SortedParticles<Real> sorted = sort_particles(context, on_exec.view(), frame);
  SortedParticles<Real> sorted_queries = sort_particles(context, queries_on_exec.view(), frame);
  if (context.comm.size() == 1) {
    SearchInput<Real> input{keep(context, std::move(sorted), columns), std::nullopt, counts};
    if (queries != nullptr) input.queries.emplace(keep(context, std::move(sorted_queries), {}));
    return input;
  }
  if (queries == nullptr) {
    const ExchangePlan plan = plan_even_parts(context, {sorted.keys.span(), frame.key_bits()});
    return {bring(context, std::move(sorted), plan, columns), std::nullopt, counts};
  }
  const JointCounts parts =
      cut_jointly(context, sorted.keys.span(), sorted_queries.keys.span(), frame.key_bits());
  SearchInput<Real> input{
      bring(context, std::move(sorted), context.comm.plan_exchange(parts.particles), columns),
      std::nullopt, counts};
  input.queries.emplace(
      bring(context, std::move(sorted_queries), context.comm.plan_exchange(parts.queries), {}));
  return input;
}

template <class Real>
void find_origins(const Exec& exec, const PlacedParticles<Real>& particles, Index first,
                  Span<ParticleLocation> origins) {
  const auto offsets =
      to_exec(exec, Span<const Index>(particles.received_offset), "ranks of particles");
  const auto firsts = to_exec(exec, Span<const Index>(particles.first_index), "ranks of particles");
  const Span<const LocalIndex> order = particles.sorted.order.span();
  const Span<const Index> global = particles.global_index.span();
  kernels::on(exec, [&](const auto& e) {
    kernels::find_origins(e, {offsets.span(), firsts.span()}, order.subspan(first, origins.size()),
                          global.subspan(first, origins.size()), origins);
  });
  synchronise(exec);
}

template SearchInput<float> place_particles(const Context&, const SearchedParticles<float>&,
                                            const Box&, const std::vector<TravellingColumn>&);
template SearchInput<double> place_particles(const Context&, const SearchedParticles<double>&,
                                             const Box&, const std::vector<TravellingColumn>&);
template void find_origins(const Exec&, const PlacedParticles<float>&, Index,
                           Span<ParticleLocation>);
template void find_origins(const Exec&, const PlacedParticles<double>&, Index,
                           Span<ParticleLocation>);

}  // namespace zhalo
