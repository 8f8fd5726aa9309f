
#include "objects.hpp"

namespace zhalo::python {
namespace {

/// zhalo.Field: this rank's cells, and what was painted over all ranks.
struct Field {
  nb::object values;
  zhalo_cells cells{};
  zhalo_paint_report report{};
};

std::array<std::int64_t, 3> grid_of(nb::handle num) {
  std::array<std::int64_t, 3> cells{};
  if (nb::isinstance<nb::int_>(num)) {
    cells.fill(nb::cast<std::int64_t>(num));
    return cells;
  }
  return nb::cast<std::array<std::int64_t, 3>>(num);
}

zhalo_paint_options paint_options(nb::handle num, const std::string& window,
                                  const std::string& weights, const std::string& values) {
  zhalo_paint_options options{};
  const auto cells = grid_of(num);
  std::copy(cells.begin(), cells.end(), options.num);
  options.window = choose(
      window, {{"ngp", ZHALO_NGP}, {"cic", ZHALO_CIC}, {"tsc", ZHALO_TSC}, {"pcs", ZHALO_PCS}},
      "window");
  options.weights =
      choose(weights, {{"mass", ZHALO_PAINT_MASSES}, {"count", ZHALO_PAINT_COUNTS}}, "weight");
  options.values = choose(
      values,
      {{"sum", ZHALO_SUM}, {"mean_units", ZHALO_MEAN_UNITS}, {"overdensity", ZHALO_OVERDENSITY}},
      "value");
  // Planes along x: numpy.concatenate() makes a whole field of those of all ranks.
  options.split = ZHALO_SLAB;
  return options;
}

template <class T>
void paint_as(const Domain& domain, const zhalo_paint_options& options, Field& field) {
  std::vector<std::size_t> shape;
  for (int axis = 0; axis < 3; ++axis)
    shape.push_back(static_cast<std::size_t>(field.cells.hi[axis] - field.cells.lo[axis]));
  field.values = filled<T>(std::move(shape), [&](T* to, std::int64_t room) {
    return zhalo_paint(domain.handle.get(), &options, to, room, &field.report);
  });
}

Field paint(const Domain& domain, nb::object num, const std::string& window,
            const std::string& weights, const std::string& values, nb::object dtype, int species) {
  zhalo_paint_options options = paint_options(num, window, weights, values);
  options.species = species;
  options.precision = precision_of(dtype);
  Field field;
  run([&] { return zhalo_paint_cells(domain.handle.get(), &options, &field.cells); });
  if (options.precision == ZHALO_FLOAT)
    paint_as<float>(domain, options, field);
  else
    paint_as<double>(domain, options, field);
  return field;
}

}  // namespace

void bind_fields(nb::module_& module) {
  nb::class_<Field>(module, "Field", R"(A field on a grid that fills the box of a domain.

Cell i stands for the position lo + (i + 1/2) length / num.)")
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
  nb::borrow<nb::class_<Domain>>(module.attr("Domain"))
      .def("paint", &paint, nb::arg("num"), nb::arg("window") = "cic", nb::kw_only(),
           nb::arg("weights") = "mass", nb::arg("values") = "sum",
           nb::arg("dtype") = "float64", nb::arg("species") = 0,
           R"(Spreads particles over the cells of a grid, and returns a Field.

num      cells along each axis: one number, or three
window   "ngp", "cic", "tsc" or "pcs"
weights  "mass", or "count": each particle counts as 1
values   of the cells: "sum", "mean_units" (the sum over the mean of all cells) or "overdensity"
dtype    of the cells)");
}

}  // namespace zhalo::python
