/// The same particles in C and in C++, and fields that are made of them.
#pragma once

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/mpi/c/species.hpp"
#include "tests/support/same_bits.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace zhalo::testing {

/// What was made of the same particles in C and in C++.
template <class Real>
struct Both {
  const zhalo_context* in_c;
  const Context& context;
  const Species<Real>& dark;
  const Species<Real>& gas;
  const Box& box;
  Domain<Real> domain;
  zhalo_domain* in_c_domain = nullptr;

  template <class T>
  std::vector<T> in_caller_order(const Buffer<T>& values, int species) const {
    return to_host(context.exec, domain.to_caller_order(values, species));
  }
  Index num(int species) const { return domain.num_origin(species); }
};

/// Room for results, full of what none of them is.
template <class T>
std::vector<T> room_for(Index num) {
  return std::vector<T>(static_cast<std::size_t>(num), T(-77));
}

#define IS_OK(call)              \
  do {                           \
    INFO(zhalo_last_error());    \
    REQUIRE((call) == ZHALO_OK); \
  } while (0)

template <class Read, class T>
bool same_rows(const std::vector<T>& wanted, const Read& read) {
  auto own = room_for<T>(static_cast<Index>(wanted.size()));
  IS_OK(read(own.data(), static_cast<Index>(own.size())));
  return same_bits(own, wanted);
}

template <class Real>
void compare_fields(const Both<Real>& both, int species) {
  if (both.box.dimensions != 3 || both.box.length[2] == 0) return;
  const Decomposition decomposition(Grid{{{7, 6, 5}}, both.box}, both.context.comm.size());
  Field<double> field(both.context, decomposition);
  const PaintReport report =
      paint(both.domain, field, PaintOptions{.window = Window::tsc}, species);
  zhalo_paint_options in_c{};
  in_c.num[0] = 7, in_c.num[1] = 6, in_c.num[2] = 5;
  in_c.window = ZHALO_TSC;
  in_c.species = species;
  zhalo_paint_report own{};
  CHECK(same_rows(to_host(both.context.exec, Span<const double>(field.span())),
                  [&](double* to, Index room) {
                    return zhalo_paint(both.in_c_domain, &in_c, to, room, &own);
                  }));
  CHECK(own.sum == report.sum);
}

template <class Real>
void compare_compensations(const Both<Real>& both, const Modes<double>& modes,
                           zhalo_power_options in_c) {
  std::vector<zhalo_power_bin> bins(6);
  for (const auto& [compensation, name] :
       {std::pair{Compensation::none, ZHALO_COMPENSATE_NONE},
        {Compensation::window, ZHALO_COMPENSATE_WINDOW},
        {Compensation::shot_noise, ZHALO_COMPENSATE_SHOT_NOISE}}) {
    in_c.compensation = name;
    IS_OK(zhalo_power_spectrum(both.in_c_domain, &in_c, bins.data(), 6, nullptr));
    const PowerSpectrum wanted =
        power_spectrum(both.context, modes, {.window = Window::tsc, .compensation = compensation});
    for (std::size_t i = 0; i < wanted.bins.size(); ++i)
      CHECK(bins[i].power == Approx(wanted.bins[i].power).epsilon(1e-12));
  }
}

/// The spectrum by the definitions of zhalo/c/fields.h, from what C++ paints and transforms.
template <class Real>
void compare_spectra(const Both<Real>& both, int species) {
  if (both.box.dimensions != 3 || !both.box.periodic[2]) return;
  const Decomposition decomposition(Grid{{{12, 10, 8}}, both.box}, both.context.comm.size());
  for (const bool interlaced : {false, true}) {
    const DensityModes<double> made = density_modes<double>(
        both.domain, decomposition,
        {.paint = {.window = Window::tsc, .weights = Weights::unit}, .interlaced = interlaced},
        species);
    const PowerSpectrum wanted = power_spectrum(
        both.context, made.modes,
        {.window = Window::tsc,
         .compensation = interlaced ? Compensation::window : Compensation::shot_noise});
    zhalo_power_options in_c{{12, 10, 8}, ZHALO_TSC, ZHALO_PAINT_COUNTS, interlaced, 0, 0, species};
    std::vector<zhalo_power_bin> bins(6);
    zhalo_power_report report{};
    IS_OK(zhalo_power_spectrum(both.in_c_domain, &in_c, bins.data(), 6, &report));
    REQUIRE(report.num_bins == std::ssize(wanted.bins));
    CHECK(report.nyquist == wanted.nyquist);
    CHECK(report.shot_noise == Approx(1.0 / static_cast<double>(both.domain.num_total(species))));
    for (std::size_t i = 0; i < wanted.bins.size(); ++i) {
      const PowerBin& bin = wanted.bins[i];
      CHECK(same_bits(std::vector<double>{bins[i].k_lo, bins[i].k_hi},
                      std::vector<double>{bin.k_lo, bin.k_hi}));
      REQUIRE(bins[i].num_modes > 0);
      CHECK(bins[i].num_modes == bin.num_modes);
      // Of the same modes, but on a device sums are in another order than on the host.
      CHECK(bins[i].k_mean == Approx(bin.k_mean).epsilon(1e-12));
      CHECK(bins[i].power == Approx(bin.power).epsilon(1e-12));
    }
    CHECK(zhalo_power_spectrum(both.in_c_domain, &in_c, bins.data(), 1, nullptr) ==
          ZHALO_INPUT_ERROR);
    compare_compensations(both, made.modes, in_c);
    in_c.compensation = 4;
    CHECK(zhalo_power_spectrum(both.in_c_domain, &in_c, bins.data(), 6, nullptr) ==
          ZHALO_INPUT_ERROR);
  }
}

}  // namespace zhalo::testing
