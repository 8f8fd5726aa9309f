/// friends_of_friends on a point set, in any of the layouts that a caller's memory may have.
#pragma once

#include <vector>

#include "tests/support/brute_force.hpp"
#include "zhalo/fof/fof.hpp"

namespace zhalo::testing {

/// Rows; one array an axis; members of a struct; rows cut into segments (one of them empty); one
/// axis apart from the others.
enum class Layout { rows, columns, structs, segments, mixed };
inline constexpr int num_layouts = 5;

/// A point set's positions copied into a layout, and the description of that memory.
template <class Real>
class LaidOut {
 public:
  LaidOut(const PointSet<Real>& points, Layout layout) : dimensions_(points.box.dimensions) {
    particles_.dimensions = dimensions_;
    switch (layout) {
      case Layout::rows: lay_rows(points); break;
      case Layout::columns: lay_columns(points); break;
      case Layout::structs: lay_structs(points); break;
      case Layout::segments: lay_segments(points); break;
      case Layout::mixed: lay_mixed(points); break;
    }
  }
  LaidOut(const LaidOut&) = delete;
  LaidOut& operator=(const LaidOut&) = delete;

  const Particles<Real>& particles() const { return particles_; }

 private:
  /// As a simulation code has them.
  struct Body {
    std::int64_t id;
    Real pos[3];
    Real vel[3];
    std::int8_t type;
  };

  void lay_rows(const PointSet<Real>& points) {
    data_ = points.pos;
    particles_.segments.push_back(
        ParticleSegment<Real>::interleaved(data_.data(), points.num(), dimensions_));
  }

  void lay_columns(const PointSet<Real>& points) {
    for (int axis = 0; axis < dimensions_; ++axis) {
      for (Index i = 0; i < points.num(); ++i) data_.push_back(points.at(i, axis));
    }
    ParticleSegment<Real> segment;
    segment.num = points.num();
    for (int axis = 0; axis < dimensions_; ++axis) {
      segment.pos[static_cast<std::size_t>(axis)] = {data_.data() + axis * points.num()};
    }
    particles_.segments.push_back(segment);
  }

  void lay_structs(const PointSet<Real>& points) {
    for (Index i = 0; i < points.num(); ++i) {
      Body body{};
      for (int axis = 0; axis < dimensions_; ++axis) body.pos[axis] = points.at(i, axis);
      bodies_.push_back(body);
    }
    bodies_.emplace_back();  // data() of no particles is not null either
    ParticleSegment<Real> segment;
    segment.num = points.num();
    for (int axis = 0; axis < dimensions_; ++axis) {
      segment.pos[static_cast<std::size_t>(axis)] = {&bodies_.front().pos[axis], sizeof(Body)};
    }
    particles_.segments.push_back(segment);
  }

  void lay_segments(const PointSet<Real>& points) {
    data_ = points.pos;
    const Index cuts[] = {0, points.num() / 7, points.num() / 7, points.num() / 2, points.num()};
    for (int s = 0; s < 4; ++s) {
      particles_.segments.push_back(ParticleSegment<Real>::interleaved(
          data_.data() + cuts[s] * dimensions_, cuts[s + 1] - cuts[s], dimensions_));
    }
  }

  /// The last axis on its own, backwards in memory.
  void lay_mixed(const PointSet<Real>& points) {
    lay_rows(points);
    const int last = dimensions_ - 1;
    for (Index i = points.num(); i-- > 0;) extra_.push_back(points.at(i, last));
    extra_.push_back(0);
    const Real* first = extra_.data() + std::max<Index>(points.num() - 1, 0);
    particles_.segments[0].pos[static_cast<std::size_t>(last)] = {
        first, -static_cast<Index>(sizeof(Real))};
  }

  int dimensions_;
  Particles<Real> particles_;
  std::vector<Real> data_;
  std::vector<Real> extra_;
  std::vector<Body> bodies_;
};

/// How to run, not what to find: labels may not depend on it.
struct Run {
  int leaf_size = 0;  // chosen
  int threads = 1;
  Layout layout = Layout::rows;
};

struct Labels {
  std::vector<Index> label;
  Index num_wrapped = 0;
  Index num_total = 0;
};

template <class Real>
Labels run_fof(const PointSet<Real>& points, const Run& run = {}) {
  Context context;
  context.exec = host_exec(run.threads);
  const LaidOut<Real> laid_out(points, run.layout);
  const FofResult result = friends_of_friends(context, laid_out.particles(), points.box,
                                              {points.linking_length, run.leaf_size});
  return {to_host(context.exec, result.label), result.num_wrapped, result.num_total};
}

template <class Real>
std::vector<Index> fof_labels(const PointSet<Real>& points, const Run& run = {}) {
  return run_fof(points, run).label;
}

}  // namespace zhalo::testing
