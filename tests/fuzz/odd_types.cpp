// Types and shapes that nobody expects.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "tests/fuzz/mutate_structure.hpp"

namespace zhalo::fuzz {

namespace {

Handle copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose}; }

Handle pair_type() {
  struct Pair {
    double first;
    int second;
  };
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(Pair)), H5Tclose);
  H5Tinsert(type.id(), "first", HOFFSET(Pair, first), H5T_NATIVE_DOUBLE);
  H5Tinsert(type.id(), "second", HOFFSET(Pair, second), H5T_NATIVE_INT);
  return type;
}

Handle enumeration() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT), H5Tclose);
  const int one = 1;
  H5Tenum_insert(type.id(), "ONE", &one);
  return type;
}

Handle opaque() {
  Handle type(H5Tcreate(H5T_OPAQUE, 8), H5Tclose);
  H5Tset_tag(type.id(), "nobody knows");
  return type;
}

Handle twelve_bits() {
  Handle type = copy_of(H5T_STD_U32LE);
  H5Tset_precision(type.id(), 12);
  H5Tset_offset(type.id(), 5);
  return type;
}

/// As half precision: 16 bits.
Handle short_float() {
  Handle type = copy_of(H5T_IEEE_F32LE);
  H5Tset_fields(type.id(), 15, 10, 5, 0, 10);
  H5Tset_size(type.id(), 2);
  H5Tset_ebias(type.id(), 15);
  return type;
}

Handle triple() {
  const hsize_t three = 3;
  return {H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three), H5Tclose};
}

Handle simple_type(Random& random, std::string& words) {
  const std::vector<std::pair<const char*, hid_t>> simple{
      {"int8", H5T_STD_I8LE},          {"uint8", H5T_STD_U8LE},
      {"int16", H5T_STD_I16LE},        {"uint16", H5T_STD_U16LE},
      {"int32", H5T_STD_I32LE},        {"uint32", H5T_STD_U32LE},
      {"int64", H5T_STD_I64LE},        {"uint64", H5T_STD_U64LE},
      {"float32", H5T_IEEE_F32LE},     {"float64", H5T_IEEE_F64LE},
      {"big uint32", H5T_STD_U32BE},   {"big int64", H5T_STD_I64BE},
      {"big uint64", H5T_STD_U64BE},   {"big float64", H5T_IEEE_F64BE},
      {"big float32", H5T_IEEE_F32BE}, {"long double", H5T_NATIVE_LDOUBLE}};
  const auto& [name, type] = choose(random, simple);
  words = name;
  return copy_of(type);
}

}  // namespace

Handle odd_type(Random& random, std::string& words) {
  using Make = Handle (*)();
  const std::vector<std::pair<const char*, Make>> others{
      {"text of 8 characters", [] { return text_type(8); }},
      {"text of any length", [] { return text_type(0); }},
      {"pairs", pair_type},
      {"an enumeration", enumeration},
      {"opaque", opaque},
      {"integers of 12 bits", twelve_bits},
      {"floats of 16 bits", short_float},
      {"arrays of 3", triple},
      {"a bit field", [] { return copy_of(H5T_STD_B32LE); }},
      {"lists of any length", [] { return Handle(H5Tvlen_create(H5T_NATIVE_INT), H5Tclose); }},
      {"references to objects", [] { return copy_of(H5T_STD_REF_OBJ); }},
      {"references to regions", [] { return copy_of(H5T_STD_REF_DSETREG); }},
      {"times", [] { return copy_of(H5T_UNIX_D32LE); }}};
  if (random.below(2) == 0) return simple_type(random, words);
  const auto& [name, make] = choose(random, others);
  words = name;
  return make();
}

Extent odd_extent(Random& random, const Extent& like) {
  Extent extent = like;
  switch (random.below(9)) {
    case 0: return {};
    case 1: return {0};
    case 2: return Extent(static_cast<std::size_t>(random.below(H5S_MAX_RANK)) + 1, 1);
    case 3: extent.push_back(1); return extent;
    case 4: extent.insert(extent.begin(), 1); return extent;
    case 5: return {static_cast<hsize_t>(points_of(like))};
    case 6: return {1 + static_cast<hsize_t>(random.below(9))};
    default: break;
  }
  if (extent.empty()) return {2};
  hsize_t& length = extent[offset_below(random, extent.size())];
  length = static_cast<hsize_t>(random.pick<Index>({0, 1, 2, 3, 4, 6})) +
           (random.one_in(2) ? length - std::min<hsize_t>(length, 3) : 0);
  return extent;
}

std::string words_of(const Extent& extent) { return fmt::format("({})", fmt::join(extent, ", ")); }

}  // namespace zhalo::fuzz
