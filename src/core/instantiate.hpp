/// How the function templates of src are compiled, once each: for the precisions that callers have.
#pragma once

/// Function templates over a precision. A file ends with one row for each of its own that other
/// files call. The name must not be overloaded by another template.
// NOLINTBEGIN(bugprone-macro-parentheses): names and types, which take none
#define ZHALO_FOR_REALS(name)                 \
  template decltype(name<float>) name<float>; \
  template decltype(name<double>) name<double>

/// Those over the precision T of a mesh and Real of positions, that may be overloaded:
/// declare(T, Real) is a macro of their declarations.
#define ZHALO_FOR_REAL_PAIRS(declare) \
  declare(float, float) declare(float, double) declare(double, float) declare(double, double)
// NOLINTEND(bugprone-macro-parentheses)
