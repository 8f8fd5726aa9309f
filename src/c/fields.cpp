#include <algorithm>
#include <vector>

#include "src/c/handles.hpp"
#include "zhalo/mesh/density.hpp"
#include "zhalo/mesh/power_spectrum.hpp"

namespace zhalo::c {
namespace {

Window window_of(int given) {
  constexpr Window windows[] = {Window::cic, Window::ngp, Window::cic, Window::tsc, Window::pcs};
  return windows[one_of(given, 4, "window")];
}

Weights weights_of(int given) {
  constexpr Weights weights[] = {Weights::mass, Weights::unit};
  return weights[one_of(given, 1, "choice of weights")];
}

PaintOptions paint_options(const zhalo_paint_options& given) {
  constexpr CellValues values[] = {CellValues::sum, CellValues::mean_units,
                                   CellValues::overdensity};
  PaintOptions options;
  options.window = window_of(given.window);
  options.weights = weights_of(given.weights);
  options.values = values[one_of(given.values, 2, "choice of values")];
  return options;
}

/// Who has which cells of a grid in the domain's box.
template <class Real>
Decomposition decomposition_of(const Domain<Real>& domain, const int64_t (&num)[3], int split) {
  constexpr Split splits[] = {Split::automatic, Split::slab, Split::pencil};
  DecompositionOptions options;
  options.split = splits[one_of(split, 2, "split")];
  const Grid grid{{{num[0], num[1], num[2]}}, domain.box()};
  return {grid, domain.context().comm.size(), options};
}

/// What zhalo_paint() writes to.
struct Target {
  void* values;
  Index room;
};

template <class T, class Real>
PaintReport paint_cells(const Domain<Real>& domain, const zhalo_paint_options& given,
                        const Target& to) {
  const Context& context = domain.context();
  const Decomposition decomposition = decomposition_of(domain, given.num, given.split);
  validate_room(to.values, to.room, decomposition.cells(context.comm.rank()).size());
  Field<T> field(context, decomposition);
  const PaintReport report = paint(domain, field, paint_options(given), given.species);
  copy_out<T>(context.exec, field.span(), static_cast<T*>(to.values), to.room);
  return report;
}

/// Whether cells are float, as all ranks must want. Collective.
bool agree_on_float(const Communicator& comm, int given) {
  const Index precision = one_of(given, 1, "precision of the cells");
  validate(are_equal(comm, {precision}),
           "some ranks want cells in float and others in double; ask for one precision");
  return precision == ZHALO_FLOAT;
}

/// Collective.
PaintReport paint_domain(const zhalo_domain& domain, const zhalo_paint_options& given,
                         const Target& to) {
  validate_species(domain, given.species);
  const bool is_float = agree_on_float(domain.context->comm, given.precision);
  return call_with(domain, [&](const auto& particles) {
    return is_float ? paint_cells<float>(particles, given, to)
                    : paint_cells<double>(particles, given, to);
  });
}

Compensation compensation_of(const zhalo_power_options& given) {
  const Compensation choices[] = {
      given.is_interlaced != 0 ? Compensation::window : Compensation::shot_noise,
      Compensation::none, Compensation::window, Compensation::shot_noise};
  return choices[one_of(given.compensation, 3, "compensation")];
}

/// A spectrum, and the shot noise in it.
struct MeasuredPower {
  PowerSpectrum spectrum;
  double shot_noise;
};

template <class T, class Real>
MeasuredPower measure_power(const Domain<Real>& domain, const zhalo_power_options& given) {
  const Decomposition decomposition = decomposition_of(domain, given.num, ZHALO_SPLIT_AUTOMATIC);
  DensityOptions density;
  density.paint.window = window_of(given.window);
  density.paint.weights = weights_of(given.weights);
  density.interlaced = given.is_interlaced != 0;
  PowerOptions power;
  power.window = density.paint.window;
  power.compensation = compensation_of(given);
  const DensityModes<T> made = density_modes<T>(domain, decomposition, density, given.species);
  return {power_spectrum(domain.context(), made.modes, power),
          shot_noise(made.report, decomposition.grid())};
}

/// Collective.
MeasuredPower measure_power_of(const zhalo_domain& domain, const zhalo_power_options& given) {
  validate_species(domain, given.species);
  const bool is_float = agree_on_float(domain.context->comm, given.precision);
  return call_with(domain, [&](const auto& particles) {
    return is_float ? measure_power<float>(particles, given)
                    : measure_power<double>(particles, given);
  });
}

std::vector<zhalo_power_bin> bins_of(const PowerSpectrum& spectrum) {
  std::vector<zhalo_power_bin> bins;
  bins.reserve(spectrum.bins.size());
  for (const PowerBin& bin : spectrum.bins)
    bins.push_back({bin.k_lo, bin.k_hi, bin.k_mean, bin.power, bin.num_modes});
  return bins;
}

}  // namespace

extern "C" {

int zhalo_paint_cells(const zhalo_domain* domain, const zhalo_paint_options* options,
                      zhalo_cells* cells) {
  return status_of([&] {
    const auto cells_of = [&](const auto& particles) {
      const zhalo_paint_options& given = at(options, "options of painting");
      return decomposition_of(particles, given.num, given.split)
          .cells(particles.context().comm.rank());
    };
    const IndexBox own = call_with(at(domain, "domain"), cells_of);
    for (int axis = 0; axis < 3; ++axis) {
      at(cells, "cells").lo[axis] = own.lo[axis];
      cells->hi[axis] = own.hi[axis];
    }
  });
}

int zhalo_paint(const zhalo_domain* domain, const zhalo_paint_options* options, void* values,
                int64_t room, zhalo_paint_report* report) {
  return status_of([&] {
    const zhalo_domain& painted = at(domain, "domain");
    const PaintReport done = together(painted.context->comm, [&] {
      return paint_domain(painted, at(options, "options of painting"), {values, room});
    });
    if (report != nullptr) *report = {done.sum, done.mean(), done.effective_number};
  });
}

int zhalo_power_spectrum(const zhalo_domain* domain, const zhalo_power_options* options,
                         zhalo_power_bin* bins, int64_t room, zhalo_power_report* report) {
  return status_of([&] {
    const zhalo_domain& measured = at(domain, "domain");
    const Context& context = *measured.context;
    const MeasuredPower done = together(context.comm, [&] {
      MeasuredPower power = measure_power_of(measured, at(options, "options of a spectrum"));
      const std::vector<zhalo_power_bin> made = bins_of(power.spectrum);
      copy_out<zhalo_power_bin>(context.exec, Span<const zhalo_power_bin>(made), bins, room);
      return power;
    });
    if (report != nullptr)
      *report = {static_cast<Index>(done.spectrum.bins.size()), done.shot_noise,
                 done.spectrum.nyquist};
  });
}

}  // extern "C"

}  // namespace zhalo::c
