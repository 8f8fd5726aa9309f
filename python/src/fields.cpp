
#include <algorithm>
#include <type_traits>

#include "arguments.hpp"
#include "objects.hpp"

namespace zhalo::python {
namespace {

/// zhalo.Field: this rank's cells, and what was painted over all ranks.
struct Field {
  NumpyArray values;
  zhalo_cells cells{};
  zhalo_paint_report report{};
};

std::array<std::int64_t, 3> grid_of(nb::handle num) {
  std::array<std::int64_t, 3> cells{};
  const nb::object array = as_numpy(num);
  const auto size = nb::cast<std::int64_t>(array.attr("size"));
  if (size == 1) {
    cells.fill(WholeNumber{array}.value("num"));
    return cells;
  }
  if (size != 3 || nb::cast<int>(array.attr("ndim")) != 1)
    refuse("num is " + shown(num) + " (must be one number of cells, or three)");
  for (std::size_t axis = 0; axis < 3; ++axis)
    cells[axis] = WholeNumber{array.attr("flat")[nb::int_(axis)]}.value("num");
  return cells;
}

/// How particles are painted: what fields and spectra have in common.
struct Painting {
  nb::object num;
  Word window;
  Word weights;
  nb::object dtype;
  WholeNumber species;

  template <class Options>
  Options options() const {
    Options options{};
    const auto cells = grid_of(num);
    std::copy(cells.begin(), cells.end(), options.num);
    options.window = choose(
        window, {{"ngp", ZHALO_NGP}, {"cic", ZHALO_CIC}, {"tsc", ZHALO_TSC}, {"pcs", ZHALO_PCS}},
        "window");
    options.weights =
        choose(weights, {{"mass", ZHALO_PAINT_MASSES}, {"count", ZHALO_PAINT_COUNTS}}, "weights");
    options.precision = precision_of(dtype);
    options.species = species.small_value("species");
    return options;
  }
};

zhalo_paint_options paint_options(const Painting& painting, const Word& values) {
  auto options = painting.options<zhalo_paint_options>();
  options.values = choose(
      values,
      {{"sum", ZHALO_SUM}, {"mean_units", ZHALO_MEAN_UNITS}, {"overdensity", ZHALO_OVERDENSITY}},
      "values");
  // Planes along x: numpy.concatenate() makes a whole field of those of all ranks.
  options.split = ZHALO_SLAB;
  return options;
}

template <class T>
void paint_as(const Domain& domain, const zhalo_paint_options& options, Field& field) {
  std::vector<std::size_t> shape;
  for (int axis = 0; axis < 3; ++axis)
    shape.push_back(static_cast<std::size_t>(field.cells.hi[axis] - field.cells.lo[axis]));
  field.values = filled_together<T>(domain.context, shape, [&](T* to, std::int64_t room) {
    return zhalo_paint(domain.handle.get(), &options, to, room, &field.report);
  });
}

Field paint(const Domain& domain, nb::object num, const Word& window, const Word& weights,
            const Word& values, nb::object dtype, const WholeNumber& species) {
  Field field;
  const zhalo_paint_options options = domain.context.agreed([&] {
    const zhalo_paint_options wanted =
        paint_options({num, window, weights, dtype, species}, values);
    domain.context.run(
        [&] { return zhalo_paint_cells(domain.handle.get(), &wanted, &field.cells); });
    return wanted;
  });
  if (options.precision == ZHALO_FLOAT)
    paint_as<float>(domain, options, field);
  else
    paint_as<double>(domain, options, field);
  return field;
}

/// zhalo.PowerSpectrum.
struct PowerSpectrum {
  std::vector<zhalo_power_bin> bins;
  zhalo_power_report report{};
};

PowerSpectrum measure_power(const Domain& domain, nb::object num, const Word& window,
                            const Truth& interlaced, const Word& compensation, const Word& weights,
                            nb::object dtype, const WholeNumber& species) {
  PowerSpectrum spectrum;
  const zhalo_power_options options = domain.context.agreed([&] {
    auto wanted = Painting{num, window, weights, dtype, species}.options<zhalo_power_options>();
    wanted.is_interlaced = interlaced.value("interlaced") ? 1 : 0;
    wanted.compensation = choose(compensation,
                                 {{"automatic", ZHALO_COMPENSATE_AUTOMATIC},
                                  {"none", ZHALO_COMPENSATE_NONE},
                                  {"window", ZHALO_COMPENSATE_WINDOW},
                                  {"shot_noise", ZHALO_COMPENSATE_SHOT_NOISE}},
                                 "compensation");
    // Bins are as wide as the fundamental. A grid without cells is zhalo's to refuse.
    const std::int64_t longest = *std::max_element(std::begin(wanted.num), std::end(wanted.num));
    spectrum.bins.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(longest, 0, 1 << 21)));
    return wanted;
  });
  domain.context.run([&] {
    return zhalo_power_spectrum(domain.handle.get(), &options, spectrum.bins.data(),
                                static_cast<std::int64_t>(spectrum.bins.size()), &spectrum.report);
  });
  spectrum.bins.resize(static_cast<std::size_t>(spectrum.report.num_bins));
  return spectrum;
}

/// One number of each bin.
template <auto member>
NumpyArray numbers_of(const PowerSpectrum& spectrum) {
  using T = std::decay_t<decltype(spectrum.bins[0].*member)>;
  NewArray<T> numbers({spectrum.bins.size()});
  for (std::size_t i = 0; i < spectrum.bins.size(); ++i)
    numbers.data()[i] = spectrum.bins[i].*member;
  return numbers.release();
}

void bind_power(nb::module_& module) {
  nb::class_<PowerSpectrum>(module, "PowerSpectrum", R"(The power spectrum of an overdensity.

One number for each bin of one fundamental, up to the Nyquist frequency. All ranks have all bins.)")
      .def("__repr__",
           [](const PowerSpectrum& spectrum) {
             return "<zhalo.PowerSpectrum of " + std::to_string(spectrum.bins.size()) + " bins>";
           })
      .def_prop_ro("k", &numbers_of<&zhalo_power_bin::k_mean>, "Mean of the modes of each bin.")
      .def_prop_ro(
          "power", &numbers_of<&zhalo_power_bin::power>,
          "Volume times the mean square of the modes. It includes the shot noise, with the "
          "automatic compensation as it is, else times a function of k.")
      .def_prop_ro("num_modes", &numbers_of<&zhalo_power_bin::num_modes>, "k and -k count as two.")
      .def_prop_ro("k_lo", &numbers_of<&zhalo_power_bin::k_lo>, "Where bins begin.")
      .def_prop_ro("k_hi", &numbers_of<&zhalo_power_bin::k_hi>, "Where bins end.")
      .def_prop_ro(
          "shot_noise", [](const PowerSpectrum& of) { return of.report.shot_noise; },
          "Of particles at random positions.")
      .def_prop_ro(
          "nyquist", [](const PowerSpectrum& of) { return of.report.nyquist; },
          "The Nyquist frequency, where the last bin ends.");
}

}  // namespace

void bind_fields(nb::module_& module) {
  nb::class_<Field>(module, "Field", R"(A field on a grid that fills the box of a domain.

Cell i stands for the position lo + (i + 1/2) length / num.)")
      .def("__repr__",
           [](const Field& field) {
             const nb::object shape = field.values.attr("shape");
             return "<zhalo.Field: this rank's cells " + nb::cast<std::string>(nb::repr(shape)) +
                    ">";
           })
      .def_prop_ro(
          "values", [](const Field& field) { return field.values; },
          "This rank's planes along x. On one rank, the whole grid.")
      .def_prop_ro(
          "first_plane", [](const Field& field) { return field.cells.lo[0]; },
          "Number of this rank's first plane along x.")
      .def_prop_ro(
          "sum", [](const Field& field) { return field.report.sum; },
          "Of all weights of all ranks.")
      .def_prop_ro(
          "mean", [](const Field& field) { return field.report.mean; }, "Weight of a cell.")
      .def_prop_ro(
          "effective_number", [](const Field& field) { return field.report.effective_number; },
          "Number of particles of equal weights that have the same shot noise.");
  bind_power(module);
  nb::borrow<nb::class_<Domain>>(module.attr("Domain"))
      .def("paint", &paint, nb::arg("num"), nb::arg("window") = "cic", nb::kw_only(),
           nb::arg("weights") = "mass", nb::arg("values") = "sum", nb::arg("dtype") = "float64",
           nb::arg("species") = 0,
           R"(Spreads particles over the cells of a grid, and returns a Field.

num      cells along each axis: one number, or three
window   "ngp", "cic", "tsc" or "pcs"
weights  "mass", or "count": each particle counts as 1
values   of the cells: "sum", "mean_units" (the sum over the mean of all cells) or "overdensity"
dtype    of the cells)")
      .def("power_spectrum", &measure_power, nb::arg("num"), nb::arg("window") = "cic",
           nb::kw_only(), nb::arg("interlaced") = false, nb::arg("compensation") = "automatic",
           nb::arg("weights") = "mass", nb::arg("dtype") = "float64", nb::arg("species") = 0,
           R"(The power spectrum of the overdensity of particles in a periodic box.

num, window, weights  as in paint
interlaced    paints twice, half a cell apart, which cancels the nearest aliases
compensation  how the effect of the window is removed: "window" divides by it, "shot_noise" by its
              sum over aliases (shot noise itself stays), "none", or "automatic": "window" if
              interlaced, else "shot_noise"
dtype         of the modes)");
}

}  // namespace zhalo::python
