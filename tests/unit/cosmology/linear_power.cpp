/// Linear spectra: against integrals that are known, and the published limits of the transfer
/// function.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "tests/support/same_bits.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/cosmology/cosmology.hpp"

using namespace zhalo;

namespace {

/// Eisenstein & Hu 1998 without oscillations (eq. 26, 28 to 31), an approximation of its own.
struct Smooth {
  EisensteinHu p;

  double matter() const { return p.omega_matter * p.hubble * p.hubble; }
  double sound_horizon() const {  // Mpc
    const double baryons = p.omega_baryon * p.hubble * p.hubble;
    return 44.5 * std::log(9.83 / matter()) / std::sqrt(1 + 10 * std::pow(baryons, 0.75));
  }
  double operator()(double k) const {  // h/Mpc
    const double fraction = p.omega_baryon / p.omega_matter;
    const double alpha = 1 - 0.328 * std::log(431 * matter()) * fraction +
                         0.38 * std::log(22.3 * matter()) * fraction * fraction;
    const double sound = 0.43 * k * p.hubble * sound_horizon();
    const double shape =
        p.omega_matter * p.hubble * (alpha + (1 - alpha) / (1 + std::pow(sound, 4)));
    const double q = k * std::pow(p.cmb_temperature / 2.7, 2) / shape;
    const double l = std::log(2 * std::numbers::e + 1.8 * q);
    const double c = 14.2 + 731 / (1 + 62.5 * q);
    return l / (l + c * q * q);
  }
};

const EisensteinHu standard{.omega_matter = 0.31, .omega_baryon = 0.049, .hubble = 0.68};

}  // namespace

TEST_CASE("linear power: a power law stays one between and beyond the points") {
  const auto law = [](double k) { return 5 * std::pow(k, -1.5); };
  std::vector<double> k = {0.01, 0.1, 0.7, 2};
  std::vector<double> power;
  for (const double x : k) power.push_back(law(x));
  const LinearPower linear(k, power);
  for (const double x : {1e-6, 0.005, 0.01, 0.03, 0.1, 0.5, 0.7, 1.9, 2.0, 7.0, 1e5})
    CHECK(linear(x) == Approx(law(x)).epsilon(1e-12));
}

TEST_CASE("linear power: straight lines in logarithms, the outer ones go on") {
  const LinearPower linear({1, 10, 100}, {1, 100, 10});
  CHECK(linear(std::sqrt(10)) == Approx(10));
  CHECK(linear(10) == Approx(100));
  CHECK(linear(0.1) == Approx(0.01));
  CHECK(linear(1000) == Approx(1));
}

TEST_CASE("linear power: sigma of power laws") {
  for (const double n : {-2.5, -2.0, -1.5, -1.0}) {
    // The integral of 9 j1(x)^2 x^n dx, by the integral of J_(3/2)(x)^2 x^(n-1) (Watson, Theory of
    // Bessel Functions, 13.41).
    const double integral =
        4.5 * std::numbers::pi * std::tgamma(1 - n) * std::tgamma(1.5 + n / 2) /
        (std::pow(2, 1 - n) * std::pow(std::tgamma(1 - n / 2), 2) * std::tgamma(2.5 - n / 2));
    const LinearPower linear({0.1, 1}, {7 * std::pow(0.1, n), 7});
    for (const double radius : {0.5, 8.0}) {
      const double expected = std::sqrt(7 * integral * std::pow(radius, -3 - n) /
                                        (2 * std::numbers::pi * std::numbers::pi));
      INFO("n " << n << ", radius " << radius);
      CHECK(linear.sigma(radius) == Approx(expected).epsilon(n < -2.1 ? 2e-3 : 1e-5));
    }
  }
}

TEST_CASE("linear power: the part of sigma beyond the table") {
  const auto law = [](double k) { return std::pow(k, -1.2); };
  const auto integrand = [&](double k) {
    const double x = 8 * k;
    const double window = 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
    return law(k) * window * window * k * k;
  };
  const auto integral = [&](double from, double to) {  // midpoints in k
    constexpr int steps = 400000;
    double sum = 0;
    for (int i = 0; i < steps; ++i) sum += integrand(from + (to - from) * (i + 0.5) / steps);
    return sum * (to - from) / steps;
  };
  const double all = integral(1e-5, 40);
  for (const auto& [from, to] : {std::pair(0.3, 0.8), std::pair(0.05, 0.2), std::pair(0.1, 3.0)}) {
    const LinearPower linear({from, to}, {law(from), law(to)});
    INFO(from << " to " << to);
    CHECK(linear.part_beyond_table(8) == Approx(1 - integral(from, to) / all).epsilon(2e-3));
  }
  CHECK(LinearPower({1e-7, 1e4}, {law(1e-7), law(1e4)}).part_beyond_table(8) == 0);
  // It rises: the integral has no end.
  CHECK(LinearPower({0.001, 0.01}, {1, 10}).part_beyond_table(8) > 0.999);
  CHECK(LinearPower({1, 2}, {1, 1e300}).part_beyond_table(8) == 1);
  CHECK_THROWS_AS(LinearPower({1, 2}, {1, 1}).part_beyond_table(0), InputError);
}

TEST_CASE("linear power: normalised to sigma8") {
  LinearPower linear({0.01, 0.1, 1}, {1000, 3000, 100});
  const double before = linear(0.05);
  const double ratio = 0.8 / linear.sigma(8);
  linear.normalise(0.8);
  CHECK(linear.sigma(8) == Approx(0.8).epsilon(1e-12));
  CHECK(linear(0.05) == Approx(before * ratio * ratio).epsilon(1e-12));
}

TEST_CASE("linear power: tables that make no sense are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(LinearPower({1}, {1}), InputError);
  CHECK_THROWS_AS(LinearPower({1, 2}, {1}), InputError);
  CHECK_THROWS_AS(LinearPower({0, 2}, {1, 1}), InputError);
  CHECK_THROWS_AS(LinearPower({1, 1}, {1, 1}), InputError);
  CHECK_THROWS_AS(LinearPower({2, 1}, {1, 1}), InputError);
  // They ascend, but their logarithms are equal: no slope goes on beyond them.
  CHECK_THROWS_AS(LinearPower({0.1, 10, std::nextafter(10.0, 11.0)}, {1, 2, 2}), InputError);
  CHECK_THROWS_AS(LinearPower({1, 2}, {1, -1}), InputError);
  CHECK_THROWS_AS(LinearPower({1, 2}, {nan, 1}), InputError);
  CHECK_THROWS_AS(LinearPower({1, 2}, {1, 1}).sigma(0), InputError);
  CHECK_THROWS_AS(LinearPower({1, 2}, {1, 1}).normalise(nan), InputError);
  // sigma(8) is infinite.
  CHECK_THROWS_AS(LinearPower({1, 2}, {1, 1e300}).normalise(0.8), InputError);
  CHECK_THROWS_AS(LinearPower({1, 2}, {1, 1e-300}).normalise(0.8), InputError);
}

TEST_CASE("transfer function: 1 on large scales, falling as ln k / k^2 on small ones") {
  CHECK(eisenstein_hu_transfer(standard, 0) == 1);
  CHECK(eisenstein_hu_transfer(standard, 1e-6) == Approx(1).epsilon(1e-5));
  const auto scaled = [](double k) {
    return eisenstein_hu_transfer(standard, k) * k * k / std::log(k);
  };
  CHECK(scaled(1e6) / scaled(1e5) == Approx(1).epsilon(0.15));
}

TEST_CASE("transfer function: without baryons it is the one without oscillations") {
  EisensteinHu none = standard;
  none.omega_baryon = 0;
  EisensteinHu few = standard;
  few.omega_baryon = 1e-7;
  for (double k = 1e-4; k < 100; k *= 1.3) {
    CHECK(eisenstein_hu_transfer(none, k) == Approx(Smooth{none}(k)).epsilon(0.03));
    CHECK(eisenstein_hu_transfer(few, k) == Approx(eisenstein_hu_transfer(none, k)).epsilon(1e-4));
  }
}

TEST_CASE("transfer function: it oscillates about the smooth one with the sound horizon's period") {
  const Smooth smooth{standard};
  const double sound_horizon = smooth.sound_horizon() * standard.hubble;
  CHECK(sound_horizon > 98);
  CHECK(sound_horizon < 110);
  std::vector<double> crests;
  double sum = 0;
  int num = 0;
  double before = 0, now = 0;
  for (double k = 0.03; k < 0.4; k += 1e-4) {
    const double ratio = eisenstein_hu_transfer(standard, k) / smooth(k);
    sum += ratio;
    ++num;
    if (num > 2 && now > before && now > ratio) crests.push_back(k);
    before = now;
    now = ratio;
    CHECK(ratio == Approx(1).epsilon(0.1));
  }
  CHECK(sum / num == Approx(1).epsilon(0.02));
  REQUIRE(crests.size() >= 5);
  for (std::size_t i = 2; i < 5; ++i)
    CHECK(crests[i] - crests[i - 1] == Approx(2 * std::numbers::pi / sound_horizon).epsilon(0.06));
}

TEST_CASE("transfer function: numbers of an independent program") {
  // colossus 1.3 (Diemer 2018, ApJS 239, 35), modelEisenstein98.
  EisensteinHu p = standard;
  p.cmb_temperature = 2.7255;
  const double k[] = {1e-3, 0.05, 0.2, 10};
  const double transfer[] = {0.9923101378, 0.272286557, 0.05542894184, 9.058524109e-05};
  for (int i = 0; i < 4; ++i)
    CHECK(eisenstein_hu_transfer(p, k[i]) == Approx(transfer[i]).epsilon(1e-8));
}

TEST_CASE("transfer function: baryons suppress small scales as the paper says") {
  // Its eq. 11 with the beta of eq. 12: T of 0.05 in 0.3 against none, at a wave number beyond the
  // oscillations.
  EisensteinHu none = standard;
  none.omega_baryon = 0;
  CHECK(eisenstein_hu_transfer(standard, 5) < 0.8 * eisenstein_hu_transfer(none, 5));
  CHECK(eisenstein_hu_transfer(standard, 5) > 0.6 * eisenstein_hu_transfer(none, 5));
}

TEST_CASE("linear power: that of Eisenstein & Hu is k^n T^2 with its sigma8") {
  const LinearPower linear = eisenstein_hu_power(standard);
  CHECK(linear.sigma(8) == Approx(standard.sigma8).epsilon(1e-10));
  const auto form = [](double k) {
    return std::pow(k, standard.spectral_index) * std::pow(eisenstein_hu_transfer(standard, k), 2);
  };
  const double factor = linear(0.1) / form(0.1);
  for (double k = 2e-5; k < 9e5; k *= 1.07)
    CHECK(linear(k) == Approx(factor * form(k)).epsilon(1e-3));
  CHECK(linear(1e-7) == Approx(factor * form(1e-7)).epsilon(1e-2));
}

TEST_CASE("linear power: how far the table of Eisenstein & Hu is from the fit between its points") {
  // What the documents say.
  for (const auto& [baryons, expected] :
       {std::pair(0.045, 3e-5), std::pair(0.1, 1.6e-4), std::pair(0.2, 1.7e-3)}) {
    EisensteinHu p;
    p.omega_baryon = baryons;
    const LinearPower linear = eisenstein_hu_power(p);
    const auto ratio = [&](double k) {
      return linear(k) /
             (std::pow(k, p.spectral_index) * std::pow(eisenstein_hu_transfer(p, k), 2));
    };
    const double at_points = ratio(0.1);
    double max_error = 0;
    for (int i = -2500; i < 3000; ++i)  // the middle of each interval
      max_error = testing::larger(max_error,
                                  std::abs(ratio(std::pow(10, (i + 0.5) / 500)) / at_points - 1));
    CHECK(max_error == Approx(expected).epsilon(0.1));
  }
  const auto has_zeros = [](double baryons) {
    EisensteinHu p;
    p.omega_baryon = baryons;
    bool is_negative = false;
    for (double k = 0.01; k < 1; k *= 1.01)
      is_negative = is_negative || eisenstein_hu_transfer(p, k) < 0;
    return is_negative;
  };
  CHECK(!has_zeros(0.2));
  CHECK(has_zeros(0.29));
}

TEST_CASE("linear power: parameters that make no sense are refused") {
  const auto refused = [](auto change) {
    EisensteinHu p;
    change(p);
    CHECK_THROWS_AS(eisenstein_hu_power(p), InputError);
    CHECK_THROWS_AS(eisenstein_hu_transfer(p, 0.1), InputError);
  };
  refused([](EisensteinHu& p) { p.omega_matter = 0; });
  refused([](EisensteinHu& p) { p.omega_baryon = -0.01; });
  refused([](EisensteinHu& p) { p.omega_baryon = p.omega_matter; });
  refused([](EisensteinHu& p) { p.hubble = 0; });
  refused([](EisensteinHu& p) { p.cmb_temperature = -1; });
  refused([](EisensteinHu& p) { p.spectral_index = -3; });
  EisensteinHu p;
  p.sigma8 = 0;
  CHECK_THROWS_AS(eisenstein_hu_power(p), InputError);
  CHECK_THROWS_AS(eisenstein_hu_transfer({}, -1), InputError);
}
