#include <fmt/format.h>

#include "tests/fuzz/mutate_structure.hpp"

namespace zhalo::fuzz {

namespace {

/// Holds every integer of 64 bits.
using Wide = long double;

struct Attribute {
  Handle type;
  Handle space;
  Extent extent{};
  std::vector<Wide> numbers{};  ///< empty if it is text
};

bool holds_numbers(const Handle& type) {
  const H5T_class_t kind = H5Tget_class(type.id());
  return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

Attribute read_attribute(const Handle& file, const Contents::Attribute& which) {
  const Handle attribute(H5Aopen_by_name(file.id(), which.object.c_str(), which.name.c_str(),
                                         H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  need(attribute.valid(), "opening the attribute " + which.name);
  Attribute found{Handle(H5Aget_type(attribute.id()), H5Tclose),
                  Handle(H5Aget_space(attribute.id()), H5Sclose)};
  found.extent.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(found.space.id())));
  H5Sget_simple_extent_dims(found.space.id(), found.extent.data(), nullptr);
  if (!holds_numbers(found.type)) return found;
  found.numbers.resize(static_cast<std::size_t>(points_of(found.extent)));
  need(H5Aread(attribute.id(), H5T_NATIVE_LDOUBLE, found.numbers.data()) >= 0,
       "reading " + which.name);
  return found;
}

/// The numbers as far as there are some and the type can hold them; else the attribute is left as
/// HDF5 makes it.
void replace_attribute(const Handle& file, const Contents::Attribute& which,
                       const Attribute& with) {
  const Handle owner = open_object(file, which.object);
  need(H5Adelete(owner.id(), which.name.c_str()) >= 0, "deleting " + which.name);
  const Handle attribute(H5Acreate2(owner.id(), which.name.c_str(), with.type.id(), with.space.id(),
                                    H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (!attribute.valid()) return;  // as where it is too large: then there is none
  const hssize_t size = H5Sget_simple_extent_npoints(with.space.id());
  if (!holds_numbers(with.type) || with.numbers.empty() || size < 1) return;
  std::vector<Wide> numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i)
    numbers.push_back(with.numbers[i % with.numbers.size()]);
  H5Awrite(attribute.id(), H5T_NATIVE_LDOUBLE, numbers.data());
}

Wide odd_number(Random& random) {
  if (random.one_in(2)) return static_cast<Wide>(odd_real(random));
  const std::uint64_t bits = odd_integer(random);
  return random.one_in(3) ? -static_cast<Wide>(bits) : static_cast<Wide>(bits);
}

std::string change_value(Random& random, Attribute& attribute) {
  if (attribute.numbers.empty()) return "text stays";
  const std::size_t at = offset_below(random, attribute.numbers.size());
  attribute.numbers[at] = odd_number(random);
  return fmt::format("number {} becomes {:g}", at, attribute.numbers[at]);
}

std::string change_type(Random& random, Attribute& attribute) {
  std::string name;
  attribute.type = odd_type(random, name);
  return fmt::format("becomes {}", name);
}

std::string change_extent(Random& random, Attribute& attribute) {
  if (random.one_in(8)) {
    attribute.space = Handle(H5Screate(H5S_NULL), H5Sclose);
    return "gets the shape of nothing";
  }
  const Extent extent = random.one_in(8) ? Extent{static_cast<hsize_t>(random.below(7000))}
                                         : odd_extent(random, attribute.extent);
  attribute.space = space_of(extent);
  return fmt::format("gets the shape {}", words_of(extent));
}

}  // namespace

Step change_attribute(Random& random, const SeedFile& seed) {
  const Contents::Attribute which = choose(random, seed.contents.attributes);
  const Handle file = open_to_write(seed.name);
  Attribute attribute = read_attribute(file, which);
  std::string words;
  switch (random.below(6)) {
    case 0:
      H5Adelete_by_name(file.id(), which.object.c_str(), which.name.c_str(), H5P_DEFAULT);
      return {fmt::format("attribute {} of {} deleted", which.name, which.object)};
    case 1: words = change_type(random, attribute); break;
    case 2: words = change_extent(random, attribute); break;
    case 3: words = change_type(random, attribute) + ", " + change_extent(random, attribute); break;
    default: words = change_value(random, attribute);
  }
  if (random.one_in(6)) words += ", " + change_value(random, attribute);
  replace_attribute(file, which, attribute);
  return {fmt::format("attribute {} of {} {}", which.name, which.object, words)};
}

}  // namespace zhalo::fuzz
