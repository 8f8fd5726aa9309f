/// The caller's particles of zhalo.h as Particles.
#pragma once

#include <cstddef>
#include <vector>

#include "src/c/handles.hpp"

namespace zhalo::c {

/// Bytes of a number; InputError for a precision that numbers do not have.
std::size_t size_of_number(int precision);

/// 2 or 3; InputError for other dimensions.
int dimensions_of(const zhalo_particles& particles);

/// Brings the columns of a species to where the context computes. The memory lives as long as this
/// object, or is the caller's.
class CallerColumns {
 public:
  /// InputError for particles without positions, and for columns that cannot be as they are given.
  CallerColumns(const Exec& exec, const zhalo_particles& given);

  template <class Real>
  Particles<Real> view();
  /// The same without any other column.
  template <class Real>
  Particles<Real> positions();

 private:
  zhalo_column checked(zhalo_column column, std::size_t size, const char* what);
  void validate_place(const zhalo_column& column, Index bytes, const char* what) const;
  RealColumn numbers(const zhalo_column& column, const char* what);
  Strided<std::uint8_t> types();

  const Exec& exec_;
  const zhalo_particles& given_;
  int dimensions_;
  bool copies_;
  std::vector<Buffer<std::byte>> uploaded_;
};

}  // namespace zhalo::c
