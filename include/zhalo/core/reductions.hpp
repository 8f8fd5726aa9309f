/// Ready-made reductions of neighbours, on host and device. See knn, knn_reduce and
/// neighbour_quantity.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

#include "zhalo/core/neighbours.hpp"

namespace zhalo {

/// Distance to the k-th neighbour; infinite if there are fewer than k.
struct KthRadius {
  template <class Real>
  ZHALO_HD double operator()(const Neighbours<Real>& near) const {
    const bool found = near.size() > 0 && near.size() >= near.wanted();
    return found ? near.distance(near.size() - 1) : static_cast<double>(INFINITY);
  }
};

/// Mean distance to the neighbours, without the query itself; 0 if there are none.
struct MeanRadius {
  template <class Real>
  ZHALO_HD double operator()(const Neighbours<Real>& near) const {
    double sum = 0;
    Index num = 0;
    for (Index i = 0; i < near.size(); ++i) {
      if (near.is_query(i)) continue;
      sum += near.distance(i);
      ++num;
    }
    return num > 0 ? sum / static_cast<double>(num) : 0;
  }
};

/// Mean of a column over the neighbours; 0 if there are none.
template <class T>
struct MeanOf {
  template <class Real>
  ZHALO_HD double operator()(const Neighbours<Real>& near, const NeighbourColumn<T>& column) const {
    double sum = 0;
    for (Index i = 0; i < near.size(); ++i) sum += static_cast<double>(column[i]);
    return near.size() > 0 ? sum / static_cast<double>(near.size()) : 0;
  }
};

enum class SphKernel { cubic_spline, wendland_c2, wendland_c4 };

/// Kernel W(r, H) of smoothed-particle hydrodynamics, with support radius H. W is 0 for r >= H, and
/// its integral over space is 1.
///
/// Cubic spline: Monaghan & Lattanzio 1985, A&A 149, 135, scaled as in Springel 2005, MNRAS 364,
/// 1105, eq. 4. Wendland C2 and C4: Dehnen & Aly 2012, MNRAS 425, 1068, table 1.
struct SphWeight {
  SphKernel kernel = SphKernel::cubic_spline;
  int dimensions = 3;

  ZHALO_HD double operator()(double r, double support) const {
    const double q = r / support;
    return q < 1 ? norm() * shape(q) / volume(support) : 0;
  }

  /// W(r, H) = norm() shape(r / H) / volume(H) for r < H.
  ZHALO_HD double norm() const {
    const bool solid = dimensions == 3;
    switch (kernel) {
      case SphKernel::cubic_spline: return (solid ? 8.0 : 40.0 / 7) / pi;
      case SphKernel::wendland_c2: return (solid ? 21.0 / 2 : 7.0) / pi;
      default: return (solid ? 495.0 / 32 : 9.0) / pi;
    }
  }
  /// H to the power of the number of dimensions.
  ZHALO_HD double volume(double support) const {
    return dimensions == 3 ? support * support * support : support * support;
  }

 private:
  static constexpr double pi = 3.14159265358979323846;

  /// kernels/host/knn.cpp has these operations in vectors, in this order.
  ZHALO_HD double shape(double q) const {
    const double u = 1 - q;
    const double u2 = u * u;
    switch (kernel) {
      case SphKernel::cubic_spline: return q < 0.5 ? 1 - 6 * q * q * u : 2 * u2 * u;
      case SphKernel::wendland_c2: return u2 * u2 * (1 + 4 * q);
      default: return u2 * u2 * u2 * (1 + 6 * q + 35.0 / 3 * q * q);
    }
  }
};

/// Density at the query: the sum of m W(r, H) over the neighbours. H is the distance to the last
/// neighbour, which therefore adds nothing itself. Infinite if H is 0; 0 if there are no
/// neighbours. mass[i] is the mass of neighbour i.
///
/// H is 0 where all neighbours are at the query's position. Within a maximum radius this is so for
/// a particle that is its own neighbour and has no other: it is alone, and its density is infinite.
/// With k = 1 no density has a sense: it is 0 or infinite. So take k of at least 2, rather 32 or
/// more, and no maximum radius.
struct SphDensity {
  SphWeight weight;

  template <class Real, class Masses>
  ZHALO_HD double operator()(const Neighbours<Real>& near, const Masses& mass) const {
    if (near.size() == 0) return 0;
    const double support = near.distance(near.size() - 1);
    if (support == 0) return static_cast<double>(INFINITY);
    double sum = 0;
    for (Index i = 0; i < near.size(); ++i)
      sum += static_cast<double>(mass[i]) * weight(near.distance(i), support);
    return sum;
  }
};

/// Velocity dispersion of the neighbours along one axis: sqrt(sum m |v - V|^2 / (M D)) in D
/// dimensions. V is their mass-weighted mean velocity, and M is their mass. 0 if there are no
/// neighbours. mass[i] is the mass of neighbour i.
template <int dimensions>
struct VelocityDispersion {
  template <class Real, class Masses, class Component>
  ZHALO_HD double operator()(const Neighbours<Real>& near, const Masses& mass,
                             const NeighbourColumn<Vec<Component, dimensions>>& velocity) const {
    double total = 0;
    Vec<double, dimensions> mean;
    for (Index i = 0; i < near.size(); ++i) {
      const auto m = static_cast<double>(mass[i]);
      total += m;
      for (int axis = 0; axis < dimensions; ++axis)
        mean[axis] += m * static_cast<double>(velocity[i][axis]);
    }
    if (!(total > 0)) return 0;
    double sum = 0;
    for (Index i = 0; i < near.size(); ++i) {
      for (int axis = 0; axis < dimensions; ++axis) {
        const double d = static_cast<double>(velocity[i][axis]) - mean[axis] / total;
        sum += static_cast<double>(mass[i]) * d * d;
      }
    }
    return sqrt(sum / (total * dimensions));
  }
};

/// The quantities that knn and neighbour_quantity compute. A new one needs a functor above, its
/// name behind the others, a row of quantity_table and of with_reduction below, and its number for
/// C in zhalo/c/neighbours.h.
enum class Quantity {
  kth_radius,   ///< distance to the k-th neighbour (KthRadius)
  mean_radius,  ///< mean distance, without the query itself (MeanRadius)
  /// Of mass, by an SPH kernel that ends at the last neighbour. Infinite where that is at the
  /// query's position, as where a particle has only itself within a maximum radius (SphDensity).
  density,
  /// Along one axis (VelocityDispersion). InputError if a segment has no velocities.
  velocity_dispersion
};

struct QuantityOptions {
  Quantity quantity = Quantity::kth_radius;
  SphKernel kernel = SphKernel::cubic_spline;  ///< for the density
};

/// How the command knn and its files show a quantity.
struct QuantityTraits {
  Quantity quantity;
  const char* word;     ///< on the command line
  const char* dataset;  ///< in the files
  UnitPowers unit;
  const char* text;  ///< its definition
};

inline constexpr QuantityTraits quantity_table[] = {
    {Quantity::kth_radius,
     "kth",
     "KthRadius",
     {.length = 1},
     "Distance of the K-th nearest particle; infinite where there are fewer"},
    {Quantity::mean_radius,
     "mean-radius",
     "MeanRadius",
     {.length = 1},
     "Mean distance of the K nearest particles, a particle itself left out; 0 where there are "
     "none"},
    {Quantity::density,
     "density",
     "Density",
     {.mass = 1, .length = -3},
     "SPH density: sum of the neighbours' masses times W(r, H), H being the distance of the last "
     "neighbour"},
    {Quantity::velocity_dispersion,
     "sigma-v",
     "VelocityDispersion",
     {.velocity = 1},
     "Velocity dispersion of the neighbours along one axis, sqrt(sum m |v - V|^2 / (3 M)), "
     "peculiar"},
};

/// Its row of the table.
constexpr const QuantityTraits& traits_of(Quantity quantity) {
  return *std::find_if(std::begin(quantity_table), std::end(quantity_table),
                       [=](const QuantityTraits& row) { return row.quantity == quantity; });
}

/// The functors of the quantities: call(reduction) with the one that is wanted.
template <int dimensions, class Call>
auto with_reduction(const QuantityOptions& wanted, const Call& call) {
  switch (wanted.quantity) {
    case Quantity::kth_radius: break;
    case Quantity::mean_radius: return call(MeanRadius{});
    case Quantity::density: return call(SphDensity{{wanted.kernel, dimensions}});
    case Quantity::velocity_dispersion: return call(VelocityDispersion<dimensions>{});
  }
  return call(KthRadius{});
}

}  // namespace zhalo
