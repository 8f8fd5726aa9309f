/// Small point sets of every kind that once was, or could be, a difficulty.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/brute_force.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {

enum class Shape { uniform, blobs, lattice, few_positions, edges, lines };

/// Where the particles of a box without a length on some axis lie.
inline Vec3d extent_of(const Box& box, double fallback) {
  Vec3d extent;
  for (int axis = 0; axis < box.dimensions; ++axis)
    extent[axis] = box.length[axis] > 0 ? box.length[axis] : fallback;
  return extent;
}

/// One coordinate after the other in [0, extent] as the shape wants; `step` is the spacing of
/// lattices and lines.
class PositionSampler {
 public:
  PositionSampler(Random& random, Shape shape, const Vec3d& extent, double step)
      : random_(random), shape_(shape), extent_(extent), step_(step) {
    for (Vec3d& centre : centres_) centre = anywhere();
  }

  Vec3d position() {
    const Vec3d centre =
        centres_[static_cast<std::size_t>(random_.below(static_cast<Index>(centres_.size())))];
    Vec3d x = anywhere();
    switch (shape_) {
      case Shape::uniform: break;
      case Shape::blobs:
        for (int axis = 0; axis < 3; ++axis)
          x[axis] = centre[axis] + std::pow(random_.uniform(), 3) * (x[axis] - centre[axis]);
        break;
      case Shape::lattice:
        for (int axis = 0; axis < 3; ++axis) x[axis] = std::floor(x[axis] / step_) * step_;
        break;
      case Shape::few_positions: x = centre; break;
      case Shape::edges:
        for (int axis = 0; axis < 3; ++axis) x[axis] = near_edge(axis, x[axis]);
        break;
      case Shape::lines: {
        const int axis = static_cast<int>(random_.below(3));
        const double along = std::floor(x[axis] / step_) * step_;
        x = centre;
        x[axis] = along;
        break;
      }
    }
    return x;
  }

 private:
  Vec3d anywhere() {
    Vec3d x;
    for (int axis = 0; axis < 3; ++axis) x[axis] = random_.uniform() * extent_[axis];
    return x;
  }

  double near_edge(int axis, double inner) {
    const double off = random_.pick({0.0, 1e-7, 1e-3}) * extent_[axis];
    switch (random_.below(3)) {
      case 0: return off;
      case 1: return extent_[axis] - off;
      default: return inner;
    }
  }

  Random& random_;
  Shape shape_;
  Vec3d extent_;
  double step_;
  std::vector<Vec3d> centres_{8};
};

/// Fills the point set, whose box and linking length are set. Some particles are moved a whole
/// period away.
template <class Real>
void fill(PointSet<Real>& points, Random& random, Shape shape, Index num) {
  const Box& box = points.box;
  const Vec3d extent = extent_of(box, 20 * points.linking_length);
  const double shortest = *std::min_element(extent.at, extent.at + box.dimensions);
  const double step =
      random.pick({points.linking_length, points.linking_length, shortest / 4, shortest / 7});
  PositionSampler sampler(random, shape, extent, step);
  const bool with_wrapped = random.one_in(4);
  for (Index i = 0; i < num; ++i) {
    const Vec3d x = sampler.position();
    for (int axis = 0; axis < box.dimensions; ++axis) {
      double at = box.lo[axis] + x[axis];
      if (box.periodic[axis] && with_wrapped && random.one_in(3))
        at += random.pick({-1.0, 1.0}) * box.length[axis];
      points.pos.push_back(static_cast<Real>(at));
    }
  }
}

/// A box of any kind, and a linking length up to half of it.
template <class Real>
PointSet<Real> random_frame(Random& random) {
  PointSet<Real> points;
  Box& box = points.box;
  box.dimensions = random.one_in(3) ? 2 : 3;
  const double size = random.pick({0.03, 1.0, 170.0, 1e26, 1e-20, 0.1, 33.3});
  const bool cube = random.one_in(2);
  const int kind = static_cast<int>(random.below(4));  // all periodic, bounded, unbounded, mixed
  double shortest = 2 * size;
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const int axis_kind = kind == 3 ? static_cast<int>(random.below(3)) : kind;
    box.periodic[axis] = axis_kind == 0;
    box.length[axis] = axis_kind == 2 ? 0 : size * (cube ? 1 : random.uniform(0.5, 2));
    box.lo[axis] = size * random.pick({0.0, 0.0, -0.5, -0.375, 0.1, 7.3});
    if (axis_kind != 2) shortest = std::min(shortest, box.length[axis]);
  }
  points.linking_length =
      random.one_in(8) ? shortest / 2 : shortest * random.log_uniform(1e-5, 0.5);
  return points;
}

/// The case of one seed.
template <class Real>
PointSet<Real> random_points(Random& random) {
  PointSet<Real> points = random_frame<Real>(random);
  const Shape shape = random.pick({Shape::uniform, Shape::blobs, Shape::lattice,
                                   Shape::few_positions, Shape::edges, Shape::lines});
  const Index num = random.below(random.pick({Index{4}, Index{40}, Index{301}}));
  fill(points, random, shape, num);
  return points;
}

}  // namespace zhalo::testing
