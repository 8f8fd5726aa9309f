/// Growth against the differential equations that it solves.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "zhalo/core/error.hpp"
#include "zhalo/cosmology/cosmology.hpp"

using namespace zhalo;

namespace {

/// D1, its derivative by ln a, D2, its derivative.
using State = std::array<double, 4>;

/// D'' + (2 + d ln H / d ln a) D' = 3/2 Omega_m(a) (D - source), by ln a; the source is 0 for D1
/// and D1^2 for D2.
State derivative(const Expansion& expansion, double log_a, const State& y) {
  const double a = std::exp(log_a);
  const double matter = expansion.omega_matter / (a * a * a);
  const double curvature = expansion.omega_curvature() / (a * a);
  const double total = matter + curvature + expansion.omega_lambda;
  const double friction = 2 - (3 * matter + 2 * curvature) / (2 * total);
  const double pull = 1.5 * matter / total;
  return {y[1], pull * y[0] - friction * y[1], y[3], pull * (y[2] - y[0] * y[0]) - friction * y[3]};
}

State moved(State y, const State& by, double times) {
  for (std::size_t i = 0; i < 4; ++i) y[i] += times * by[i];
  return y;
}

State midpoint(const Expansion& expansion, double log_a, double h, const State& y) {
  return moved(
      y, derivative(expansion, log_a + h / 2, moved(y, derivative(expansion, log_a, y), h / 2)), h);
}

/// One step and two half ones, extrapolated to steps of 0.
State step(const Expansion& expansion, double log_a, double h, const State& y) {
  const State once = midpoint(expansion, log_a, h, y);
  const State twice =
      midpoint(expansion, log_a + h / 2, h / 2, midpoint(expansion, log_a, h / 2, y));
  return moved(moved(twice, twice, 1.0 / 3), once, -1.0 / 3);
}

/// From an early time, when all is matter: D1 = a, D2 = -3/7 a^2.
State solve(const Expansion& expansion, double a) {
  constexpr double first = 1e-7;
  constexpr int steps = 4000;
  State y = {first, first, -3.0 / 7 * first * first, -6.0 / 7 * first * first};
  const double h = std::log(a / first) / steps;
  for (int i = 0; i < steps; ++i) y = step(expansion, std::log(first) + i * h, h, y);
  return y;
}

const Expansion universes[] = {{0.3, 0.7}, {0.25, 0.75}, {0.3, 0},
                               {0.4, 0.3}, {1.2, 0.1},   {0.05, 0.9}};

}  // namespace

TEST_CASE("cosmology: in a flat universe of matter perturbations grow as the scale factor") {
  for (const double a : {1e-3, 0.02, 0.5, 1.0, 3.0}) {
    const Growth growth = growth_at({1, 0}, a);
    CHECK(growth.d1 == Approx(a).epsilon(1e-12));
    CHECK(growth.f1 == Approx(1).epsilon(1e-10));
    CHECK(growth.d2 == Approx(-3.0 / 7 * a * a).epsilon(1e-12));
    CHECK(growth.f2 == Approx(2).epsilon(1e-12));
  }
}

TEST_CASE("cosmology: the growth solves its differential equations") {
  for (const Expansion& expansion : universes) {
    const State now = solve(expansion, 1);
    for (const double a : {0.01, 0.02, 0.1, 0.5, 1.0, 1.5}) {
      const State then = solve(expansion, a);
      const Growth growth = growth_at(expansion, a);
      INFO("a " << a << ", Omega_m " << expansion.omega_matter << ", Omega_Lambda "
                << expansion.omega_lambda);
      CHECK(growth.d1 == Approx(then[0] / now[0]).epsilon(1e-6));
      CHECK(growth.f1 == Approx(then[1] / then[0]).epsilon(1e-6));
      CHECK(growth.d2 == Approx(then[2] / (now[0] * now[0])).epsilon(1e-6));
      CHECK(growth.f2 == Approx(then[3] / then[2]).epsilon(1e-6));
    }
  }
}

TEST_CASE("cosmology: the second-order growth is that of published fits") {
  for (const double a : {0.01, 0.02, 0.1, 0.5, 1.0}) {
    INFO("a " << a);
    const Growth flat = growth_at({0.3, 0.7}, a);  // Bouchet et al. 1995
    const double matter = Expansion{0.3, 0.7}.omega_matter_at(a);
    CHECK(flat.d2 ==
          Approx(-3.0 / 7 * flat.d1 * flat.d1 * std::pow(matter, -1.0 / 143)).epsilon(2e-3));
    CHECK(flat.f2 == Approx(2 * std::pow(matter, 6.0 / 11)).epsilon(1e-2));
    const Growth open = growth_at({0.3, 0}, a);  // Bouchet et al. 1992, ApJ 394, L5
    CHECK(open.d2 == Approx(-3.0 / 7 * open.d1 * open.d1 *
                            std::pow(Expansion{0.3, 0}.omega_matter_at(a), -2.0 / 63))
                         .epsilon(3e-3));
  }
}

TEST_CASE("cosmology: the growth is that of Carroll, Press & Turner 1992 within a per cent") {
  for (const Expansion& expansion : {Expansion{0.3, 0.7}, Expansion{0.3, 0}, Expansion{0.4, 0.3}}) {
    const auto suppression = [&](double a) {  // their eq. 29
      const double matter = expansion.omega_matter_at(a);
      const double lambda = expansion.omega_lambda / std::pow(expansion.hubble_ratio(a), 2);
      return 2.5 * matter /
             (std::pow(matter, 4.0 / 7) - lambda + (1 + matter / 2) * (1 + lambda / 70));
    };
    for (const double a : {0.02, 0.3, 0.7})
      CHECK(growth_at(expansion, a).d1 ==
            Approx(a * suppression(a) / suppression(1)).epsilon(0.01));
  }
}

TEST_CASE("cosmology: the expansion rate") {
  const Expansion expansion{0.4, 0.5};
  CHECK(expansion.hubble_ratio(1) == Approx(1).epsilon(1e-15));
  CHECK(expansion.hubble_ratio(0.5) == Approx(std::sqrt(0.4 * 8 + 0.1 * 4 + 0.5)).epsilon(1e-14));
  CHECK(expansion.omega_matter_at(0.5) ==
        Approx(0.4 * 8 / (0.4 * 8 + 0.1 * 4 + 0.5)).epsilon(1e-14));
}

TEST_CASE("cosmology: what is no universe is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double a : {0.0, -1.0, 1e-70, nan, std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(growth_at({0.3, 0.7}, a), InputError);
  CHECK(growth_at({0.3, 0.7}, 1e-30).f1 == Approx(1).epsilon(1e-12));
  CHECK_THROWS_AS(growth_at({0, 1}, 0.5), InputError);
  CHECK_THROWS_AS(growth_at({nan, 0.7}, 0.5), InputError);
  CHECK_THROWS_AS(growth_at({0.1, 3}, 0.5), InputError);  // no big bang
  CHECK_THROWS_AS(growth_at({3, -3}, 4), InputError);     // recollapses before
  CHECK_NOTHROW(growth_at({3, -3}, 1));
}
