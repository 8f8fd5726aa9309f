#include "src/domain/positions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"

namespace zhalo {
namespace {

constexpr int max_bits_per_axis(int dimensions) { return dimensions == 3 ? 21 : 31; }

template <class Real>
kernels::SegmentView<Real> segment_view(const ParticleSegment<Real>& segment, Index first) {
  kernels::SegmentView<Real> view;
  view.first = first;
  view.num = segment.num;
  for (std::size_t axis = 0; axis < 3; ++axis) {
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
      validate(static_cast<bool>(segment.pos[static_cast<std::size_t>(axis)]),
               "segment {} has no positions on axis {}, but the particles have {} dimensions", s,
               axis, particles.dimensions);
    }
  }
}

template <class Real>
void validate_memory_of(const Exec& exec, const ParticleSegment<Real>& segment, int dimensions) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis) {
    validate_numbers(exec, segment.pos[axis], "positions");
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
      validate_memory_of(exec, segment, particles.dimensions);
      views.push_back(segment_view(segment, view_.num));
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
  const int max_bits = max_bits_per_axis(box.dimensions);
  double bits = 0;
  if (side > cell)
    bits = cell > 0 ? std::ceil(std::log2(side / cell)) : std::numeric_limits<double>::infinity();
  frame.bits_per_axis = static_cast<int>(std::min<double>(bits, max_bits));
  frame.cells_per_length = side > 0 ? std::ldexp(1.0, frame.bits_per_axis) / side : 0;
  choice.fine_enough = bits <= max_bits && std::isfinite(frame.cells_per_length);
  return choice;
}

namespace {

constexpr int num_sampled = 2048;
/// So many of them may lie beyond the cells, on each side of an axis.
constexpr std::size_t num_beyond = 16;
/// With fewer particles than this the cells are never too coarse.
constexpr Index min_num_sampled_of = Index{8} * num_sampled;
/// Cells become smaller by this factor, or stay: most particles still spread over 2^7 on an axis.
constexpr double min_gain = 1 << 14;

/// Coordinates of every so-many-th particle in the caller's order over all ranks, axis by axis.
/// Collective.
template <class Real>
std::vector<std::vector<double>> sample_of(const Context& context,
                                           const kernels::ParticlesView<Real>& particles,
                                           const GlobalRange& range, kernels::KeyFrame frame) {
  std::vector<LocalIndex> at;
  std::vector<std::size_t> number;
  for (int s = 0; s < num_sampled; ++s) {
    const Index index = share_of(range.total, s, num_sampled).first - range.first;
    if (index < 0 || index >= particles.num) continue;
    at.push_back(static_cast<LocalIndex>(index));
    number.push_back(static_cast<std::size_t>(s));
  }
  const auto on_exec = to_exec(context.exec, Span<const LocalIndex>(at), "a sample of particles");
  const Index num = on_exec.size();
  Buffer<Real> found(context.exec, 3 * num, "a sample of particles");
  frame.scale = 1;
  kernels::on(context.exec, [&](const auto& e) {
    Real* const x = found.data();
    kernels::gather_positions(e, particles, frame, on_exec.span(),
                              {{x, x + num, x + 2 * num}, num});
  });
  const std::vector<Real> own = to_host(context.exec, found);
  // Each number is one rank's, and 0 on the others: the sums of their bits are the numbers.
  std::vector<Index> bits(3 * std::size_t{num_sampled});
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t axis = i / number.size();
    bits[axis * num_sampled + number[i % number.size()]] = std::bit_cast<Index>(double{own[i]});
  }
  context.comm.sum_in_place(bits);
  std::vector<std::vector<double>> sample(static_cast<std::size_t>(particles.dimensions));
  for (std::size_t axis = 0; axis < sample.size(); ++axis) {
    for (std::size_t s = 0; s < num_sampled; ++s)
      sample[axis].push_back(std::bit_cast<double>(bits[axis * num_sampled + s]));
  }
  return sample;
}

}  // namespace

template <class Real>
KeyFrameChoice around_most(const Context& context, const kernels::ParticlesView<Real>& particles,
                           const Extent& extent, KeyFrameChoice choice) {
  if (choice.fine_enough || extent.range.total < min_num_sampled_of) return choice;
  kernels::KeyFrame& frame = choice.frame;
  Vec3d middle;
  double width = 0;
  auto sample = sample_of(context, particles, extent.range, frame);
  for (std::size_t axis = 0; axis < sample.size(); ++axis) {
    std::sort(sample[axis].begin(), sample[axis].end());
    const double lo = sample[axis][num_beyond];
    const double hi = sample[axis][num_sampled - 1 - num_beyond];
    middle[static_cast<int>(axis)] = lo + (hi - lo) / 2;
    width = std::max(width, hi - lo);
  }
  constexpr double margin = 1.5;  // of the width, on each side: the sample knows it roughly
  const double side = (1 + 2 * margin) * width;
  const double cells_per_length = std::ldexp(1.0, frame.bits_per_axis) / side;
  const bool pays = cells_per_length >= min_gain * frame.cells_per_length;
  if (!pays || !std::isfinite(cells_per_length)) return choice;
  frame.cells_per_length = cells_per_length;
  for (int axis = 0; axis < particles.dimensions; ++axis)
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
ZHALO_FOR_REALS(examine_positions);
ZHALO_FOR_REALS(examine_summary);
ZHALO_FOR_REALS(around_most);
ZHALO_FOR_REALS(sort_particles);

}  // namespace zhalo
