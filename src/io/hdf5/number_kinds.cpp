// Kinds of numbers in files, and whether their description makes sense.
#include <algorithm>

#include "src/io/hdf5/input.hpp"

namespace zhalo::io::hdf5 {
namespace {

/// Bits of a number in a file.
struct Bits {
  std::size_t first = 0;
  std::size_t count = 0;

  bool are_within(const Bits& all) const {
    return first >= all.first && first + count <= all.first + all.count;
  }
  bool meet(const Bits& other) const {
    return first < other.first + other.count && other.first < first + count;
  }
};

/// Damaged types may name bits that a number does not have, and HDF5 then reads those of its
/// neighbours; or an exponent that no machine has.
bool has_sound_bits(hid_t type, bool is_real) {
  constexpr std::size_t longest = 16;
  const std::size_t bytes = H5Tget_size(type);
  if (bytes == 0 || bytes > longest) return false;
  const int offset = H5Tget_offset(type);
  const Bits used{static_cast<std::size_t>(std::max(offset, 0)), H5Tget_precision(type)};
  if (offset < 0 || used.count == 0 || !used.are_within({0, 8 * bytes})) return false;
  if (!is_real) return true;
  Bits sign{0, 1}, exponent, mantissa;
  if (H5Tget_fields(type, &sign.first, &exponent.first, &exponent.count, &mantissa.first,
                    &mantissa.count) < 0)
    return false;
  const Bits all{0, used.count};  // fields count from the first bit in use
  const bool all_within =
      sign.are_within(all) && exponent.are_within(all) && mantissa.are_within(all);
  if (!all_within || sign.meet(exponent) || sign.meet(mantissa) || exponent.meet(mantissa))
    return false;
  return exponent.count > 0 && exponent.count < 64 &&
         H5Tget_ebias(type) == (std::size_t{1} << (exponent.count - 1)) - 1;
}

}  // namespace

Kind kind_of(hid_t type) {
  const H5T_class_t found = H5Tget_class(type);
  if (found != H5T_FLOAT && found != H5T_INTEGER) return Kind::other;
  if (!has_sound_bits(type, found == H5T_FLOAT)) return Kind::other;
  return found == H5T_FLOAT ? Kind::real : Kind::integer;
}

}  // namespace zhalo::io::hdf5
