/// Small point sets and trees for the lanes tests.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "kernels/fof.hpp"
#include "kernels/tree.hpp"
#include "src/tree/tree.hpp"
#include "tests/support/brute_force.hpp"

namespace zhalo::testing {

template <class Real>
PointSet<Real> uniform_points(Index num, const Box& box, double linking_length, unsigned seed) {
  PointSet<Real> points{{}, box, linking_length};
  std::mt19937_64 random(seed);
  for (Index i = 0; i < num * box.dimensions; ++i) {
    points.pos.push_back(static_cast<Real>(static_cast<double>(random() >> 40) / (1 << 24)));
  }
  return points;
}

/// Knots of 20 particles; those of one knot are within `radius` of its centre on each axis, some
/// knots lie over the edges.
template <class Real>
PointSet<Real> knotted_points(Index num, const Box& box, double linking_length, double radius) {
  PointSet<Real> points = uniform_points<Real>(num, box, linking_length, 7);
  const Index dimensions = box.dimensions;
  for (std::size_t i = 0; i < points.pos.size(); ++i) {
    const auto axis = static_cast<Index>(i) % dimensions;
    const Index knot = static_cast<Index>(i) / (dimensions * 20);
    const double centre =
        std::fmod(0.618 * static_cast<double>(knot * dimensions + axis) + 0.01, 1.0);
    double x = centre + radius * (2 * static_cast<double>(points.pos[i]) - 1);
    if (box.any_periodic()) x -= std::floor(x);
    points.pos[i] = static_cast<Real>(x);
  }
  return points;
}

/// side^3 points, exactly the linking length apart, in a periodic box that they fill.
template <class Real>
PointSet<Real> lattice_points(int side, double spacing) {
  PointSet<Real> points{{}, Box::periodic_cube(side * spacing), spacing};
  for (int i = 0; i < side * side * side; ++i) {
    for (const int cell : {i % side, i / side % side, i / side / side})
      points.pos.push_back(static_cast<Real>(cell * spacing));
  }
  return points;
}

/// A tree on the host over a point set, and room for linking it.
template <class Real>
class SmallTree {
 public:
  SmallTree(const PointSet<Real>& points, int leaf_size) : points_(points) {
    Particles<Real> particles;
    particles.dimensions = points.box.dimensions;
    particles.segments = {
        ParticleSegment<Real>::interleaved(points.pos.data(), points.num(), points.box.dimensions)};
    const SegmentTable<Real> input(context_.exec, particles);
    const Extent extent = examine_positions(context_, input.view(), points.box);
    const double cell =
        0.999 * points.linking_length / std::sqrt(static_cast<double>(points.box.dimensions));
    const KeyFrameChoice choice = choose_key_frame(points.box, extent, cell, 1);
    sorted_ = sort_particles(context_, input.view(), choice.frame);
    tree_.emplace(context_, sorted_, TreeOptions{leaf_size, choice.fine_enough});
  }

  const kernels::TreeView<Real>& tree() const { return tree_->view(); }
  const Host& exec() const { return std::get<Host>(context_.exec); }
  /// Index in the points of each sorted particle.
  Span<const LocalIndex> order() const { return sorted_.order.span(); }

  /// Everything for linking, in fresh memory that `parent` and `connected` keep. The error bands
  /// are far wider than needed, so that pairs are decided in double often.
  kernels::FofView<Real> fof(Buffer<LocalIndex>& parent, Buffer<std::uint8_t>& connected,
                             int walk_level) const {
    parent = Buffer<LocalIndex>(context_.exec, points_.num(), "union-find");
    connected = Buffer<std::uint8_t>(context_.exec, tree().level_size[0], "union-find");
    for (std::uint8_t& flag : connected.span()) flag = 2;
    kernels::FofView<Real> fof;
    fof.tree = tree();
    fof.sets.parent = parent.span();
    fof.connected = connected.data();
    fof.walk_level = walk_level;
    const double b = points_.linking_length;
    fof.linking_length2 = b * b;
    fof.open = {static_cast<Real>(b * b * 0.98), static_cast<Real>(b * b * 1.02)};
    fof.wrapped = {static_cast<Real>(b * b * 0.95), static_cast<Real>(b * b * 1.05)};
    for (int axis = 0; axis < 3; ++axis) {
      const bool periodic = points_.box.periodic[axis];
      const double period =
          periodic ? points_.box.length[axis] : std::numeric_limits<double>::infinity();
      fof.exact_period[axis] = period;
      fof.period[axis] = static_cast<Real>(period);
      fof.inner_lo[axis] = static_cast<Real>(periodic ? points_.box.lo[axis] + 1.1 * b : -period);
      fof.inner_hi[axis] =
          static_cast<Real>(periodic ? points_.box.lo[axis] + period - 1.1 * b : period);
    }
    fof.let_own_leaves_walk();
    return fof;
  }

  /// Smallest index, in the order of the point set, of each particle's set.
  std::vector<Index> labels(const kernels::DisjointSets& sets) const {
    const Index num = points_.num();
    std::vector<Index> smallest(static_cast<std::size_t>(num), num);
    std::vector<Index> label(static_cast<std::size_t>(num));
    const auto root = [&](Index i) {
      return static_cast<std::size_t>(sets.find(static_cast<LocalIndex>(i)));
    };
    for (Index i = 0; i < num; ++i)
      smallest[root(i)] = std::min(smallest[root(i)], Index{sorted_.order.span()[i]});
    for (Index i = 0; i < num; ++i) label[sorted_.order.span()[i]] = smallest[root(i)];
    return label;
  }

 private:
  PointSet<Real> points_;
  Context context_{{}, host_exec(1), nullptr};
  SortedColumns<Real> sorted_;
  std::optional<Tree<Real>> tree_;
};

}  // namespace zhalo::testing
