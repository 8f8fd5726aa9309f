#include <cmath>

#include "arguments.hpp"
#include "objects.hpp"

namespace zhalo::python {
namespace {

/// Types as bytes. InputError for numbers that are none, or are not 0 to 255.
nb::object as_bytes(nb::handle types) {
  const nb::object array = as_numpy(types);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind != "i" && kind != "u") refuse("the types are not whole numbers");
  if (nb::cast<std::int64_t>(array.attr("size")) > 0) {
    const bool are_bytes =
        array.attr("min")() >= nb::int_(0) && array.attr("max")() <= nb::int_(255);
    if (!are_bytes) refuse("types must be 0 to 255");
  }
  return array.attr("astype")("uint8", nb::arg("copy") = false);
}

}  // namespace

Particles::Particles(nb::handle positions, nb::handle velocities, nb::handle masses,
                     nb::handle types, const char* name) {
  nb::object rows = as_numpy(positions);
  auto shape = nb::cast<std::vector<std::int64_t>>(rows.attr("shape"));
  if (shape == std::vector<std::int64_t>{0}) {  // an empty list, of a rank without particles
    shape = {0, 3};
    rows = rows.attr("reshape")(0, 3);
  }
  if (shape.size() != 2 || shape[1] < 2 || shape[1] > 3)
    refuse(std::string(name) + " must have the shape (number, 3) or (number, 2)");
  view_.num = shape[0];
  view_.dimensions = static_cast<int>(shape[1]);
  set_rows(view_.position, rows, name);
  if (is_to_set(velocities)) set_rows(view_.velocity, velocities, "velocities");
  if (is_to_set(masses)) set_masses(masses);
  if (is_to_set(types)) set_types(types);
  has_types_ = !types.is_none();
}

bool Particles::is_to_set(nb::handle column) const {
  if (column.is_none()) return false;
  return view_.num > 0 || nb::cast<std::int64_t>(as_numpy(column).attr("size")) > 0;
}

Array Particles::keep(nb::handle values) {
  kept_.push_back(as_array(as_numpy(values)));
  return kept_.back();
}

void Particles::validate_num(std::size_t num, const char* what) const {
  if (static_cast<std::int64_t>(num) != view_.num) {
    refuse("there are " + std::to_string(view_.num) + " positions and " + std::to_string(num) +
           " " + what);
  }
}

void Particles::set_rows(zhalo_column* columns, nb::handle rows, const char* what) {
  const Array array = keep(rows);
  const int precision = precision_of(array, what);
  if (array.ndim() != 2 || static_cast<int>(array.shape(1)) != view_.dimensions)
    refuse(std::string(what) + " must have the shape of the positions");
  validate_num(array.shape(0), what);
  for (int axis = 0; axis < view_.dimensions; ++axis)
    columns[axis] = column_of(array, precision, static_cast<std::size_t>(axis));
}

bool Particles::is_for_all(nb::handle column) const {
  if (is_one_value(column)) return true;
  return view_.num != 1 && nb::cast<std::int64_t>(as_numpy(column).attr("size")) == 1;
}

void Particles::set_masses(nb::handle masses) {
  if (is_for_all(masses)) {
    view_.uniform_mass = Number{nb::borrow(masses)}.value("masses");
    if (!(view_.uniform_mass > 0) || std::isinf(view_.uniform_mass))
      refuse("masses is " + shown(masses) + " (must be positive and finite)");
    return;
  }
  const Array array = keep(masses);
  if (array.ndim() != 1) refuse("masses must be one number, or one for each particle");
  validate_num(array.shape(0), "masses");
  view_.mass = column_of(array, precision_of(array, "masses"), 0);
}

void Particles::set_types(nb::handle types) {
  if (is_for_all(types)) {
    view_.uniform_type = WholeNumber{nb::borrow(types)}.small_value("types");
    if (view_.uniform_type < 0 || view_.uniform_type > 255)
      refuse("types is " + shown(types) + " (must be 0 to 255)");
    return;
  }
  const Array array = keep(as_bytes(types));
  if (array.ndim() != 1) refuse("types must be one number, or one for each particle");
  validate_num(array.shape(0), "types");
  view_.type = {array.data(), array.stride(0), ZHALO_UINT8};
}

}  // namespace zhalo::python
