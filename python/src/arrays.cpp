#include "arguments.hpp"

namespace zhalo::python {
namespace {

std::string dtype_name(nb::handle dtype) {
  return nb::cast<std::string>(nb::module_::import_("numpy").attr("dtype")(dtype).attr("name"));
}

/// Strides that are negative, 0, or not a whole number of elements.
bool has_odd_stride(const nb::object& array) {
  const auto size = nb::cast<std::int64_t>(array.attr("itemsize"));
  if (size == 0) return true;
  for (const nb::handle stride : nb::tuple(array.attr("strides"))) {
    const auto bytes = nb::cast<std::int64_t>(stride);
    if (bytes <= 0 || bytes % size != 0) return true;
  }
  return false;
}

}  // namespace

int precision_of(nb::handle dtype) {
  const Word name{nb::str(dtype_name(dtype).c_str())};
  return choose(name, {{"float64", ZHALO_DOUBLE}, {"float32", ZHALO_FLOAT}}, "dtype");
}

nb::object as_numpy(nb::handle values) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  if (nb::cast<bool>(numpy.attr("ma").attr("is_masked")(values)))
    refuse("the array has masked elements; leave them out, as with array[~mask]");
  const nb::object array = numpy.attr("asarray")(values);
  const nb::object native = numpy.attr("asarray")(
      array, nb::arg("dtype") = array.attr("dtype").attr("newbyteorder")("="));
  const bool is_empty = nb::cast<std::int64_t>(native.attr("size")) == 0;
  const bool is_aligned = nb::cast<bool>(native.attr("flags").attr("aligned"));
  if (is_empty || (is_aligned && !has_odd_stride(native))) return native;
  return native.attr("copy")();
}

Array as_array(const nb::object& numpy_array) {
  Array array;
  if (nb::try_cast(numpy_array, array)) return array;
  refuse("an array has elements of " + dtype_name(numpy_array.attr("dtype")) +
         ", which zhalo cannot use; convert them, as with numpy.asarray(values, numpy.float64)");
}

bool is_one_value(nb::handle value) {
  return nb::cast<int>(nb::module_::import_("numpy").attr("ndim")(value)) == 0;
}

int precision_of(const Array& values, const char* what) {
  if (values.dtype() == nb::dtype<double>()) return ZHALO_DOUBLE;
  if (values.dtype() == nb::dtype<float>()) return ZHALO_FLOAT;
  refuse(std::string("the ") + what +
         " are neither float32 nor float64; convert them, as with "
         "numpy.asarray(values, numpy.float64)");
}

zhalo_column column_of(const Array& rows, int precision, std::size_t axis) {
  const std::int64_t size = precision == ZHALO_FLOAT ? sizeof(float) : sizeof(double);
  const auto* first = static_cast<const char*>(rows.data());
  if (rows.ndim() == 2) first += rows.stride(1) * static_cast<std::int64_t>(axis) * size;
  return {first, rows.stride(0) * size, precision};
}

}  // namespace zhalo::python
