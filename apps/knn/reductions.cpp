#include "apps/knn/reductions.hpp"

#include <algorithm>

namespace zhalo::knn_app {

const std::array<QuantityTraits, 4>& all_reductions() {
  static const std::array<QuantityTraits, 4> all{
      {{Quantity::kth_radius, "kth", "KthRadius"},
       {Quantity::mean_radius, "mean-radius", "MeanRadius"},
       {Quantity::density, "density", "Density", true, false},
       {Quantity::velocity_dispersion, "sigma-v", "VelocityDispersion", true, true}}};
  return all;
}

const QuantityTraits& traits_of(Quantity quantity) {
  const auto& all = all_reductions();
  return *std::find_if(all.begin(), all.end(),
                       [&](const QuantityTraits& traits) { return traits.quantity == quantity; });
}

io::Meaning meaning_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kth_radius:
      return {.a = 1,
              .h = -1,
              .length = 1,
              .text = "Distance of the K-th nearest particle; infinite where there are fewer"};
    case Quantity::mean_radius:
      return {.a = 1,
              .h = -1,
              .length = 1,
              .text =
                  "Mean distance of the K nearest particles, a particle itself left out; 0 where "
                  "there are none"};
    case Quantity::density:
      return {.a = -3,
              .h = 2,
              .length = -3,
              .mass = 1,
              .text =
                  "SPH density: sum of the neighbours' masses times W(r, H), H being the distance "
                  "of the last neighbour"};
    case Quantity::velocity_dispersion:
      return {.velocity = 1,
              .text =
                  "Velocity dispersion of the neighbours along one axis, sqrt(sum m |v - V|^2 / (3 "
                  "M)), peculiar"};
  }
  return {};
}

std::string name_of(SphKernel kernel) {
  switch (kernel) {
    case SphKernel::cubic_spline: return "cubic spline";
    case SphKernel::wendland_c2: return "Wendland C2";
    case SphKernel::wendland_c4: return "Wendland C4";
  }
  return {};
}

namespace {

bool any(const Options& options, bool QuantityTraits::*needs) {
  return std::any_of(options.reductions.begin(), options.reductions.end(),
                     [&](Quantity quantity) { return traits_of(quantity).*needs; });
}

}  // namespace

bool any_needs_masses(const Options& options) {
  return any(options, &QuantityTraits::needs_masses);
}
bool any_needs_velocities(const Options& options) {
  return any(options, &QuantityTraits::needs_velocities);
}

}  // namespace zhalo::knn_app
