/// Arguments of Python's caller that are one value: numbers, names and truth values. They are kept
/// as they were given and looked at where an error on one rank is an error on all. nanobind would
/// raise a TypeError on that rank alone, while the others wait.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "bindings.hpp"

namespace zhalo::python {

/// A number: whatever numpy takes for one, and arrays of one element. InputError for others. `name`
/// is the argument's.
struct Number {
  nb::object given;
  double value(const char* name) const;
};

/// A whole number, in the same way.
struct WholeNumber {
  nb::object given;
  std::int64_t value(const char* name) const;
  /// The same as an int.
  int small_value(const char* name) const;
};

/// True or False.
struct Truth {
  nb::object given;
  bool value(const char* name) const;
};

/// One of some names.
struct Word {
  nb::object given;
};

struct Choice {
  const char* name;
  int value;
};
/// The constant with this name. InputError with all names if there is none.
int choose(const Word& word, std::initializer_list<Choice> choices, const char* name);

/// Whole numbers, in a list or an array of one axis.
std::vector<int> whole_numbers(nb::handle given, const char* name);
/// What was given, for messages.
std::string shown(nb::handle given);

}  // namespace zhalo::python

namespace nanobind::detail {

/// Takes any object; `Named` has what signatures call it.
template <class Argument, class Named>
struct ArgumentCaster {
  NB_TYPE_CASTER(Argument, Named::text)
  bool from_python(handle given, std::uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    value.given = borrow(given);
    return true;
  }
};

struct FloatName {
  static constexpr auto text = const_name("float");
};
struct IntName {
  static constexpr auto text = const_name("int");
};
struct BoolName {
  static constexpr auto text = const_name("bool");
};
struct StrName {
  static constexpr auto text = const_name("str");
};

template <>
struct type_caster<zhalo::python::Number> : ArgumentCaster<zhalo::python::Number, FloatName> {};
template <>
struct type_caster<zhalo::python::WholeNumber>
    : ArgumentCaster<zhalo::python::WholeNumber, IntName> {};
template <>
struct type_caster<zhalo::python::Truth> : ArgumentCaster<zhalo::python::Truth, BoolName> {};
template <>
struct type_caster<zhalo::python::Word> : ArgumentCaster<zhalo::python::Word, StrName> {};

}  // namespace nanobind::detail
