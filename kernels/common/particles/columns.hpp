/// Looking at masses and types, packing columns.
#pragma once

#include <limits>

#include "kernels/common/backend.hpp"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

template <class Real>
struct SummarizeColumns {
  ParticlesView<Real> particles;
  Span<const Index> global_index;
  int num_types;

  ZHALO_HD ColumnSummary operator()(Index i) const {
    const Place<Real> p = particles[i];
    const double mass = p.segment.mass ? p.segment.mass[p.row] : particles.uniform_mass;
    const int type = p.segment.type ? p.segment.type[p.row] : 0;
    const bool bad_mass = !(mass > 0) || mass - mass != 0;
    const bool bad_type = type >= num_types;
    return {bad_mass ? 1 : 0, bad_mass ? global_index[i] : last, bad_type ? 1 : 0,
            bad_type ? global_index[i] : last};
  }

  static constexpr Index last = std::numeric_limits<Index>::max();
};

struct CombineColumnSummaries {
  ZHALO_HD ColumnSummary operator()(const ColumnSummary& a, const ColumnSummary& b) const {
    return {a.num_bad_mass + b.num_bad_mass,
            a.first_bad_mass < b.first_bad_mass ? a.first_bad_mass : b.first_bad_mass,
            a.num_bad_type + b.num_bad_type,
            a.first_bad_type < b.first_bad_type ? a.first_bad_type : b.first_bad_type};
  }
};

template <class E, class Real>
ColumnSummary summarize_columns(const E& exec, const ParticlesView<Real>& particles,
                                Span<const Index> global_index, int num_types) {
  using Summarize = SummarizeColumns<Real>;
  return transform_reduce(exec, particles.num,
                          ColumnSummary{0, Summarize::last, 0, Summarize::last},
                          Summarize{particles, global_index, num_types}, CombineColumnSummaries{});
}

template <class Real>
struct MassOf {
  ParticlesView<Real> particles;

  ZHALO_HD double operator()(Index i) const {
    const Place<Real> p = particles[i];
    return p.segment.mass ? p.segment.mass[p.row] : particles.uniform_mass;
  }
};

template <class Real>
struct MaxVelocityOf {
  ParticlesView<Real> particles;

  ZHALO_HD double operator()(Index i) const {
    const Place<Real> p = particles[i];
    double largest = 0;
    for (int axis = 0; axis < particles.dimensions; ++axis) {
      const double v = p.segment.velocity[axis] ? fabs(p.segment.velocity[axis][p.row]) : 0;
      if (v > largest && v - v == 0) largest = v;
    }
    return largest;
  }
};

struct Larger {
  ZHALO_HD double operator()(double a, double b) const { return a > b ? a : b; }
};

template <class E, class Real>
double find_max_mass(const E& exec, const ParticlesView<Real>& particles) {
  return transform_reduce(exec, particles.num, 0.0, MassOf<Real>{particles}, Larger{});
}

template <class E, class Real>
double find_max_velocity(const E& exec, const ParticlesView<Real>& particles) {
  return transform_reduce(exec, particles.num, 0.0, MaxVelocityOf<Real>{particles}, Larger{});
}

template <class Real>
struct MarkType {
  ParticlesView<Real> particles;
  TypeSet types;
  Span<LocalIndex> marks;

  ZHALO_HD void operator()(Index i) const {
    const auto p = particles[i];
    marks[i] = types.has(p.segment.type ? p.segment.type[p.row] : 0) ? 1 : 0;
  }
};

template <class E, class Real>
void mark_types(const E& exec, const ParticlesView<Real>& particles, const TypeSet& types,
                Span<LocalIndex> marks) {
  for_each(exec, marks.size(), MarkType<Real>{particles, types, marks});
}

template <class Real>
struct PackParticle {
  ParticlesView<Real> particles;
  Span<const LocalIndex> at;
  PackedColumns<Real> to;

  ZHALO_HD void prefetch(Index i) const {
    const Place<Real> p = particles[at[i]];
    if (!to.pos.empty()) prefetch_line(&p.segment.pos[0][p.row]);
    if (p.segment.velocity[0]) prefetch_line(p.segment.velocity[0].address_of(p.row));
    if (p.segment.mass) prefetch_line(p.segment.mass.address_of(p.row));
  }

  template <class T>
  ZHALO_HD static void put(Span<T> column, Index place, double value) {
    if (!column.empty()) column[place] = static_cast<T>(value);
  }

  ZHALO_HD void operator()(Index i) const {
    const Place<Real> p = particles[at[i]];
    const double mass = p.segment.mass ? p.segment.mass[p.row] : particles.uniform_mass;
    for (int axis = 0; axis < particles.dimensions; ++axis) {
      const Index place = i * particles.dimensions + axis;
      const double velocity = p.segment.velocity[axis] ? p.segment.velocity[axis][p.row] : 0;
      if (!to.pos.empty()) to.pos[place] = p.segment.pos[axis][p.row];
      put(to.velocity_float, place, velocity);
      put(to.velocity, place, velocity);
    }
    put(to.mass_float, i, mass);
    put(to.mass, i, mass);
    put(to.type, i, p.segment.type ? p.segment.type[p.row] : 0);
  }
};

template <class E, class Real>
void pack_particles(const E& exec, const ParticlesView<Real>& particles, Span<const LocalIndex> at,
                    const PackedColumns<Real>& to) {
  for_each(exec, at.size(), PackParticle<Real>{particles, at, to});
}

ZHALO_INSTANTIATE_REALS(summarize_columns);
ZHALO_INSTANTIATE_REALS(find_max_mass);
ZHALO_INSTANTIATE_REALS(find_max_velocity);
ZHALO_INSTANTIATE_REALS(mark_types);
ZHALO_INSTANTIATE_REALS(pack_particles);

}  // namespace zhalo::kernels
