#include "arguments.hpp"

#include <limits>

namespace zhalo::python {
namespace {

std::string kind_of(const nb::object& array) {
  return nb::cast<std::string>(array.attr("dtype").attr("kind"));
}

/// The only element, of a kind in `kinds` (those of numpy.dtype.kind); `wanted` says in words what
/// it must be.
nb::object only_element(nb::handle given, const std::string& kinds, const char* name,
                        const char* wanted) {
  const nb::object array = as_numpy(given);
  const auto size = nb::cast<std::int64_t>(array.attr("size"));
  const bool is_of_kind = kinds.find(kind_of(array)) != std::string::npos;
  if (size != 1 || !is_of_kind)
    refuse(std::string(name) + " is " + shown(given) + " (must be " + wanted + ")");
  return array.attr("item")();
}

}  // namespace

std::string shown(nb::handle given) {
  if (is_one_value(given)) return nb::cast<std::string>(nb::repr(given));
  const nb::object shape = nb::module_::import_("numpy").attr("shape")(given);
  return "an array of shape " + nb::cast<std::string>(nb::repr(shape));
}

double Number::value(const char* name) const {
  const nb::object item = only_element(given, "iufO", name, "one number");
  const double number = PyFloat_AsDouble(item.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(std::string(name) + " is " + shown(given) + " (must be one number)");
  }
  return number;
}

std::int64_t WholeNumber::value(const char* name) const {
  const nb::object item = only_element(given, "iu", name, "one whole number");
  std::int64_t number = 0;
  if (!nb::try_cast(item, number)) refuse(std::string(name) + " is too large a number");
  return number;
}

int WholeNumber::small_value(const char* name) const {
  const std::int64_t number = value(name);
  using Limits = std::numeric_limits<int>;
  if (number < Limits::min() || number > Limits::max()) {
    refuse(std::string(name) + " is " + std::to_string(number) + ", which is too " +
           (number < 0 ? "small" : "large"));
  }
  return static_cast<int>(number);
}

bool Truth::value(const char* name) const {
  return nb::cast<bool>(only_element(given, "b", name, "True or False"));
}

int choose(const Word& word, std::initializer_list<Choice> choices, const char* name) {
  std::string chosen, names;
  const bool is_text = nb::isinstance<nb::str>(word.given);
  if (is_text) chosen = nb::cast<std::string>(word.given);
  for (const Choice& choice : choices) {
    if (is_text && chosen == choice.name) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  refuse(std::string(name) + " is " + shown(word.given) + " (must be one of " + names + ")");
}

std::vector<int> whole_numbers(nb::handle given, const char* name) {
  const nb::object array = as_numpy(given);
  const bool is_empty = nb::cast<std::int64_t>(array.attr("size")) == 0;
  const bool is_list = nb::cast<int>(array.attr("ndim")) == 1;
  if (!is_list || (!is_empty && kind_of(array) != "i" && kind_of(array) != "u"))
    refuse(std::string(name) + " must be a list of whole numbers");
  std::vector<int> numbers;
  for (const nb::handle one : nb::list(array.attr("tolist")()))
    numbers.push_back(WholeNumber{nb::borrow(one)}.small_value(name));
  return numbers;
}

}  // namespace zhalo::python
