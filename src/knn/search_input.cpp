#include "src/knn/search_input.hpp"

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

/// Who sends which particles and queries to whom.
struct JointPlans {
  ExchangePlan particles;
  ExchangePlan queries;
};

/// Cuts the Z-order of particles and queries together, so that queries meet the particles around
/// them, and neither can pile up on a rank.
JointPlans cut_jointly(const Context& context, Span<const std::uint64_t> particles,
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
  const auto particles_before = [&](Index index) {
    Index value = 0;
    copy_bytes(exec, &value, before.data() + index, sizeof value);
    return value;
  };
  std::vector<Index> of_particles, of_queries;
  for (std::size_t r = 0; r + 1 < plan.send_offset.size(); ++r) {
    const Index first = plan.send_offset[r];
    const Index last = plan.send_offset[r + 1];
    of_particles.push_back(particles_before(last) - particles_before(first));
    of_queries.push_back(last - first - of_particles.back());
  }
  return {context.comm.plan_exchange(of_particles), context.comm.plan_exchange(of_queries)};
}

}  // namespace

template <class Real>
SearchInput<Real> make_search_input(const Context& context, const SearchedParticles<Real>& searched,
                                    const Box& box, const std::vector<ColumnView>& columns) {
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
  JointPlans plans;
  if (context.comm.size() > 1) {
    const Span<const std::uint64_t> keys = sorted.keys.span();
    if (queries == nullptr) {
      plans.particles = plan_even_parts(context, {keys, frame.key_bits()});
    } else {
      plans = cut_jointly(context, keys, sorted_queries.keys.span(), frame.key_bits());
    }
  }
  SearchInput<Real> input{
      distribute_sorted(context, std::move(sorted), plans.particles, {{}, columns}), std::nullopt,
      counts};
  if (queries != nullptr)
    input.queries.emplace(distribute_sorted(context, std::move(sorted_queries), plans.queries));
  return input;
}

template SearchInput<float> make_search_input(const Context&, const SearchedParticles<float>&,
                                              const Box&, const std::vector<ColumnView>&);
template SearchInput<double> make_search_input(const Context&, const SearchedParticles<double>&,
                                               const Box&, const std::vector<ColumnView>&);
}  // namespace zhalo
