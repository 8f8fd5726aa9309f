/// Looking at masses and types, packing columns.
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/common/backend.hpp"
#include "kernels/particles.hpp"

namespace zhalo::kernels {

template <class Real>
struct SummarizeColumns {
  ParticlesView<Real> particles;
  Span<const Index> global_index;
  int num_types;

  ZHALO_HD Index index(Index i) const { return global_index.empty() ? i : global_index[i]; }

  ZHALO_HD ColumnSummary operator()(Index i) const {
    const ParticleRow<Real> p = particles[i];
    const bool bad_mass = !is_mass(p.mass(particles.uniform_mass));
    const bool bad_type = p.type() >= num_types;
    return {bad_mass ? 1 : 0, bad_mass ? index(i) : last, bad_type ? 1 : 0,
            bad_type ? index(i) : last};
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
void summarize_columns(const E& exec, const ParticlesView<Real>& particles,
                       Span<const Index> global_index, int num_types, ColumnSummary* summary) {
  using Summarize = SummarizeColumns<Real>;
  queue_reduce(exec, particles.num,
               MapReduce{ColumnSummary{0, Summarize::last, 0, Summarize::last},
                         Summarize{particles, global_index, num_types}, CombineColumnSummaries{}},
               summary);
}

/// The bits of a magnitude, which ascend with it; 0 for what is not finite. The host compares whole
/// numbers in vectors: with a sign, since not all vectors compare others.
template <class Real>
struct FiniteMagnitude {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr Real largest = std::numeric_limits<Real>::max();
  static constexpr Bits all_but_sign = std::numeric_limits<Bits>::max();
  Span<const Real> values;

  ZHALO_HD Bits operator()(Index i) const {
    const Bits bits = bits_of(values[i]) & all_but_sign;
    return bits <= bits_of(largest) ? bits : 0;
  }

  ZHALO_HD static Bits bits_of(Real value) {
    Bits bits;
    memcpy(&bits, &value, sizeof(Real));
    return bits;
  }
};

struct Larger {
  template <class T>
  ZHALO_HD T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

template <class E, class Real>
Real max_magnitude(const E& exec, Span<const Real> values) {
  using Magnitude = FiniteMagnitude<Real>;
  const auto bits = transform_reduce(exec, values.size(), typename Magnitude::Bits{0},
                                     Magnitude{values}, Larger{});
  Real largest;
  memcpy(&largest, &bits, sizeof(Real));
  return largest;
}

template <class Real>
struct MarkType {
  ParticlesView<Real> particles;
  TypeSet types;
  Span<LocalIndex> marks;

  ZHALO_HD void operator()(Index i) const {
    const auto p = particles[i];
    marks[i] = types.has(p.type()) ? 1 : 0;
  }
};

template <class E, class Real>
void mark_types(const E& exec, const ParticlesView<Real>& particles, const TypeSet& types,
                Span<LocalIndex> marks) {
  for_each(exec, marks.size(), MarkType<Real>{particles, types, marks});
}

/// Writes a particle's columns.
template <class Real>
struct PackRow {
  ParticlesView<Real> particles;
  PackedColumns<Real> to;

  template <class T>
  ZHALO_HD static void put(Span<T> column, Index index, double value) {
    if (!column.empty()) column[index] = static_cast<T>(value);
  }

  ZHALO_HD void operator()(const ParticleRow<Real>& p, Index i) const {
    const double mass = p.mass(particles.uniform_mass);
    for (int axis = 0; axis < particles.dimensions; ++axis) {
      const Index index = i * particles.dimensions + axis;
      const double velocity = p.segment.velocity[axis] ? p.segment.velocity[axis][p.row] : 0;
      if (!to.pos.empty()) to.pos[index] = p.segment.pos[axis][p.row];
      put(to.velocity_float, index, velocity);
      put(to.velocity, index, velocity);
    }
    put(to.mass_float, i, mass);
    put(to.mass, i, mass);
    put(to.type, i, p.type());
  }
};

template <class Real>
struct PackEach {
  PackRow<Real> row;

  ZHALO_HD void operator()(Index i) const { row(row.particles[i], i); }
};

template <class E, class Real>
void pack_all(const E& exec, const ParticlesView<Real>& particles, const PackedColumns<Real>& to) {
  for_each(exec, particles.num, PackEach<Real>{{particles, to}});
}

template <class Real>
struct PackParticle {
  PackRow<Real> row;
  Span<const LocalIndex> at;

  ZHALO_HD void prefetch(Index i) const {
    const ParticleRow<Real> p = row.particles[at[i]];
    const PackedColumns<Real>& to = row.to;
    for (int axis = 0; axis < row.particles.dimensions; ++axis) {
      if (!to.pos.empty()) prefetch_line(&p.segment.pos[axis][p.row]);
      if (!to.velocity.empty() || !to.velocity_float.empty())
        prefetch_line(p.segment.velocity[axis].address_of(p.row));
    }
    if (!to.mass.empty() || !to.mass_float.empty()) prefetch_line(p.segment.mass.address_of(p.row));
  }

  ZHALO_HD void operator()(Index i) const { row(row.particles[at[i]], i); }
};

template <class E, class Real>
void pack_particles(const E& exec, const ParticlesView<Real>& particles, Span<const LocalIndex> at,
                    const PackedColumns<Real>& to) {
  for_each(exec, at.size(), PackParticle<Real>{{particles, to}, at});
}

ZHALO_INSTANTIATE_REALS(summarize_columns);
ZHALO_INSTANTIATE_REALS(max_magnitude);
ZHALO_INSTANTIATE_REALS(mark_types);
ZHALO_INSTANTIATE_REALS(pack_all);
ZHALO_INSTANTIATE_REALS(pack_particles);

}  // namespace zhalo::kernels
