#include "src/domain/positions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/host_copies.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"

namespace zhalo {
namespace {

constexpr int max_bits_per_axis(int dimensions) { return dimensions == 3 ? 21 : 31; }

template <class Real>
kernels::SegmentView<Real> segment_view(const ParticleSegment<Real>& segment, Index first,
                                        int dimensions) {
  kernels::SegmentView<Real> view;
  view.first = first;
  view.num = segment.num;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis) {
    view.pos[axis] = segment.pos[axis];
    view.velocity[axis] = segment.velocity[axis];
  }
  view.mass = segment.mass;
  view.type = segment.type;
  return view;
}

template <class Real>
void validate_segments(const Particles<Real>& particles, bool with_positions) {
  validate(particles.dimensions == 2 || particles.dimensions == 3,
           "the particles have {} dimensions (must have 2 or 3)", particles.dimensions);
  static_cast<void>(particles.num());  // validates
  for (std::size_t s = 0; s < particles.segments.size(); ++s) {
    const auto& segment = particles.segments[s];
    for (int axis = 0; with_positions && axis < particles.dimensions && segment.num > 0; ++axis) {
      const Strided<Real>& along = segment.pos[static_cast<std::size_t>(axis)];
      validate(static_cast<bool>(along),
               "segment {} has no positions on axis {}, but the particles have {} dimensions", s,
               axis, particles.dimensions);
      validate(along.stride_bytes != 0 || segment.num == 1,
               "the positions of segment {} on axis {} have a stride of 0 bytes, which is one "
               "number for all particles; give the bytes from one particle to the next",
               s, axis);
    }
  }
}

template <class Real>
void validate_memory_of(const Exec& exec, const ParticleSegment<Real>& segment, int dimensions,
                        bool with_positions) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis) {
    if (with_positions) validate_numbers(exec, segment.pos[axis], "positions");
    validate_numbers(exec, segment.velocity[axis], "velocities");
  }
  validate_numbers(exec, segment.mass, "masses");
  validate_numbers(exec, segment.type, "types");
}

void validate_positions(const Communicator& comm, const GlobalRange& range,
                        const kernels::PositionSummary& summary, const PositionsOf& of) {
  const NumAndFirst not_finite =
      bad_of_ranks(comm, summary.num_not_finite, summary.first_not_finite, range.first);
  validate(not_finite.num == 0,
           "{} of {} {} have a position that is not finite (NaN or infinite), the first is {} {}; "
           "remove them or repair the snapshot",
           not_finite.num, range.total, of.many, of.one, not_finite.first);
  const NumAndFirst outside =
      bad_of_ranks(comm, summary.num_outside, summary.first_outside, range.first);
  validate(outside.num == 0,
           "{} of {} {} lie outside the box, which is not periodic; the first is {} {}; "
           "give the right box (a search also takes none)",
           outside.num, range.total, of.many, of.one, outside.first);
}

/// Periodic boxes away from this one, which no run drifts. A float is known there to a thousandth
/// of the box, and farther out to less.
constexpr double max_sides_away = 1e4;

bool any_far_away(const Box& box, const Extent& extent) {
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const double far = max_sides_away * box.length[axis];
    const double lo = box.lo[axis] - far, hi = box.lo[axis] + box.length[axis] + far;
    if (box.periodic[axis] && (extent.lo[axis] < lo || extent.hi[axis] > hi)) return true;
  }
  return false;
}

/// Outside this lie the positions that are too far away.
Box without_far_away(Box box) {
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const double far = box.periodic[axis] ? max_sides_away * box.length[axis] : 0;
    box.lo[axis] -= far;
    box.length[axis] += 2 * far;
    box.periodic[axis] = false;
  }
  return box;
}

/// One that is damaged would be wrapped to anywhere.
template <class Real>
void validate_distance(const Context& context, const kernels::ParticlesView<Real>& particles,
                       const Extent& extent, const Box& box, const PositionsOf& of) {
  if (!any_far_away(box, extent)) return;
  const auto found = kernels::on(context.exec, [&](const auto& exec) {
    return kernels::summarize_positions(exec, particles, without_far_away(box));
  });
  const NumAndFirst outside =
      bad_of_ranks(context.comm, found.num_outside, found.first_outside, extent.range.first);
  validate(outside.num == 0,
           "{} of {} {} lie more than {:.0f} box sides outside the periodic box, too far to know "
           "where they belong in it; the first is {} {}; check the box size and its unit, remove "
           "them or repair the snapshot",
           outside.num, extent.range.total, of.many, max_sides_away, of.one, outside.first);
}

}  // namespace

void validate_box(const Box& box, int dimensions) {
  validate(box.dimensions == 2 || box.dimensions == 3,
           "the box has {} dimensions (must have 2 or 3)", box.dimensions);
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const double length = box.length[axis];
    validate(
        std::isfinite(length) && length >= 0 && std::isfinite(box.lo[axis]),
        "the box has corner {} and length {} on axis {} (must be finite, the length not negative)",
        box.lo[axis], length, axis);
    validate(!box.periodic[axis] || length > 0,
             "axis {} of the box is periodic and has no length; give the box size", axis);
  }
  validate(box.dimensions == dimensions, "the particles have {} dimensions, the box has {}",
           dimensions, box.dimensions);
}

template <class Real>
void validate_box_fits(const Box& box) {
  constexpr double largest = static_cast<double>(std::numeric_limits<Real>::max()) /
                             16;  // searches scale lengths, and add some
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const double length = std::max(box.length[axis], std::abs(box.lo[axis]));
    validate(length <= largest,
             "the box reaches {:g} on axis {}, but positions of {} bits have no room for such "
             "lengths (at most {:g}); check the box size and its unit",
             length, axis, 8 * sizeof(Real), largest);
  }
}

ZHALO_FOR_REALS(validate_box_fits);

template <class Real>
SegmentTable<Real>::SegmentTable(const Exec& exec, const Particles<Real>& particles,
                                 bool with_positions) {
  validate_segments(particles, with_positions);
  std::vector<kernels::SegmentView<Real>> views;
  for (const auto& segment : particles.segments) {
    if (segment.num > 0) {
      validate_memory_of(exec, segment, particles.dimensions, with_positions);
      views.push_back(segment_view(segment, view_.num, particles.dimensions));
    }
    view_.num += segment.num;
  }
  if (views.empty()) views.emplace_back();
  segments_ =
      to_exec(exec, Span<const kernels::SegmentView<Real>>(views), "table of particle segments");
  view_.segments = segments_.span();
  view_.dimensions = particles.dimensions;
  view_.uniform_mass = particles.uniform_mass;
}

template <class Real>
Extent examine_positions(const Context& context, const kernels::ParticlesView<Real>& particles,
                         const Box& box, const PositionsOf& of) {
  const auto summary = kernels::on(context.exec, [&](const auto& exec) {
    return kernels::summarize_positions(exec, particles, box);
  });
  return examine_summary(context, particles, box, summary, of);
}

template <class Real>
Extent examine_summary(const Context& context, const kernels::ParticlesView<Real>& particles,
                       const Box& box, const kernels::PositionSummary& summary,
                       const PositionsOf& of) {
  Extent extent;
  extent.range = global_range(context.comm, particles.num);
  validate_positions(context.comm, extent.range, summary, of);
  for (int axis = 0; axis < 3; ++axis) {
    extent.lo[axis] = context.comm.min(summary.lo[axis]);
    extent.hi[axis] = context.comm.max(summary.hi[axis]);
  }
  validate_distance(context, particles, extent, box, of);
  extent.num_wrapped = context.comm.sum(summary.num_wrapped);
  return extent;
}

template <class Real>
std::pair<Extent, std::vector<Real>> examine_and_sample(
    const Context& context, const kernels::ParticlesView<Real>& particles, const Box& box,
    const PositionsOf& of) {
  using Sample = kernels::PositionSample<Real>;
  constexpr Index min_total = 16 * Sample::num;  // fewer may share a cell
  const GlobalRange range = global_range(context.comm, particles.num);
  if (range.total < min_total) return {examine_positions(context, particles, box, of), {}};
  const Exec& exec = context.exec;
  Buffer<kernels::PositionSummary> summary(exec, 1, "a look at positions");
  Buffer<Real> coordinates(exec, 3 * Sample::num, "a sample of positions");
  kernels::on(exec, [&](const auto& e) {
    kernels::queue_position_summary(e, particles, box, summary.data());
    kernels::sample_positions(e, particles, box, {range.first, range.total, coordinates.data()});
  });
  kernels::PositionSummary found;
  std::vector<Real> sample;
  HostCopies copies(exec);
  copies.add(Span<const kernels::PositionSummary>(summary.span()), &found);
  copies.add(coordinates, sample);
  copies.wait();
  return {examine_summary(context, particles, box, found, of), std::move(sample)};
}

double clump_cell(double linking_length, int dimensions) {
  return linking_length * (1 - 1e-4) / std::sqrt(static_cast<double>(dimensions));
}

double largest_coordinate(const Box& box, const Extent& extent) {
  double largest = 0;
  for (int axis = 0; axis < box.dimensions; ++axis) {
    if (box.periodic[axis]) {
      largest = std::max(largest, std::abs(box.lo[axis]) + box.length[axis]);
    } else if (extent.range.total > 0) {
      largest = std::max({largest, std::abs(extent.lo[axis]), std::abs(extent.hi[axis])});
    }
  }
  return largest;
}

namespace {

/// So many that 2^bits cells of this side, or of a smaller one, fill `side`.
double wanted_bits(double side, double cell) {
  if (side <= cell) return 0;
  return cell > 0 ? std::ceil(std::log2(side / cell)) : std::numeric_limits<double>::infinity();
}

}  // namespace

KeyFrameChoice choose_key_frame(const Box& box, const Extent& extent, double cell, double scale) {
  KeyFrameChoice choice;
  kernels::KeyFrame& frame = choice.frame;
  frame.box = box;
  frame.scale = scale;
  double side = 0;
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const bool periodic = box.periodic[axis];
    const bool any = extent.range.total > 0;
    frame.corner[axis] = periodic ? box.lo[axis] : (any ? extent.lo[axis] : 0);
    side =
        std::max(side, periodic ? box.length[axis] : (any ? extent.hi[axis] - extent.lo[axis] : 0));
  }
  choice.cell = cell;
  const int max_bits = max_bits_per_axis(box.dimensions);
  const double bits = wanted_bits(side, cell);
  frame.bits_per_axis = static_cast<int>(std::min<double>(bits, max_bits));
  frame.cells_per_length = side > 0 ? std::ldexp(1.0, frame.bits_per_axis) / side : 0;
  choice.fine_enough = bits <= max_bits && std::isfinite(frame.cells_per_length);
  return choice;
}

namespace {

/// The sample of all ranks: coordinates of each axis, ascending. Collective.
template <class Real>
std::vector<double> sorted_sample(const Communicator& comm, const std::vector<Real>& own) {
  // Each number is one rank's, and 0 on the others: the sums of their bits are the numbers.
  std::vector<Index> words(own.size());
  std::transform(own.begin(), own.end(), words.begin(),
                 [](Real x) { return std::bit_cast<Index>(double{x}); });
  comm.sum_in_place(words);
  std::vector<double> sample(words.size());
  std::transform(words.begin(), words.end(), sample.begin(),
                 [](Index word) { return std::bit_cast<double>(word); });
  constexpr auto num = static_cast<std::ptrdiff_t>(kernels::PositionSample<Real>::num);
  for (auto axis = sample.begin(); axis != sample.end(); axis += num) std::sort(axis, axis + num);
  return sample;
}

}  // namespace

template <class Real>
KeyFrameChoice around_most(const Communicator& comm, const std::vector<Real>& sample,
                           KeyFrameChoice choice) {
  if (choice.fine_enough || sample.empty()) return choice;
  // So many sampled particles may lie beyond the cells, on each side of an axis.
  constexpr std::size_t num_beyond = 8;
  // The space becomes smaller by this factor on each axis, or stays: in 3-D most particles spread
  // over 2^7 of its 2^21 cells on an axis then.
  constexpr double min_gain = 1 << 12;
  // On each side, times the width of what is sampled: the sample knows it roughly.
  constexpr double margin = 1.5;
  const std::vector<double> sorted = sorted_sample(comm, sample);
  constexpr std::size_t num = kernels::PositionSample<Real>::num;
  kernels::KeyFrame& frame = choice.frame;
  Vec3d middle;
  double width = 0;
  for (int axis = 0; axis < frame.box.dimensions; ++axis) {
    const std::size_t first = static_cast<std::size_t>(axis) * num;
    const double lo = sorted[first + num_beyond], hi = sorted[first + num - 1 - num_beyond];
    middle[axis] = lo + (hi - lo) / 2;
    width = std::max(width, hi - lo);
  }
  const double side = (1 + 2 * margin) * width;
  const double former_side = std::ldexp(1.0, frame.bits_per_axis) / frame.cells_per_length;
  const int bits =
      static_cast<int>(std::min<double>(wanted_bits(side, choice.cell), frame.bits_per_axis));
  const double cells_per_length = std::ldexp(1.0, bits) / side;
  if (!(side * min_gain <= former_side) || !std::isfinite(cells_per_length)) return choice;
  frame.bits_per_axis = bits;
  frame.cells_per_length = cells_per_length;
  for (int axis = 0; axis < frame.box.dimensions; ++axis)
    frame.corner[axis] = middle[axis] - side / 2;
  return choice;
}

template <class Real>
SortedColumns<Real> sort_particles(const Context& context,
                                   const kernels::ParticlesView<Real>& particles,
                                   const kernels::KeyFrame& frame) {
  const PhaseTimer timer(context, "sort");
  return kernels::on(context.exec, [&](const auto& exec) {
    return kernels::sort_positions(exec, particles, frame);
  });
}

template class SegmentTable<float>;
template class SegmentTable<double>;
template KeyFrameChoice around_most(const Communicator&, const std::vector<float>&, KeyFrameChoice);
template KeyFrameChoice around_most(const Communicator&, const std::vector<double>&,
                                    KeyFrameChoice);
ZHALO_FOR_REALS(examine_positions);
ZHALO_FOR_REALS(examine_summary);
ZHALO_FOR_REALS(examine_and_sample);
ZHALO_FOR_REALS(sort_particles);

}  // namespace zhalo
