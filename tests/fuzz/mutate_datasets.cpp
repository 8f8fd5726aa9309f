#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/fuzz/mutate_structure.hpp"

namespace zhalo::fuzz {

Original take_out(const Handle& file, const std::string& path) {
  const Handle dataset = open_dataset(file, path);
  Original original{Handle(H5Dget_type(dataset.id()), H5Tclose), extent_of_dataset(dataset), {}};
  need(!original.extent.empty() && points_of(original.extent) > 0, path + " is empty");
  const std::size_t bytes = H5Tget_size(original.type.id());
  original.bytes.resize(static_cast<std::size_t>(points_of(original.extent)) * bytes);
  need(H5Dread(dataset.id(), original.type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
               original.bytes.data()) >= 0,
       "reading " + path);
  return original;
}

Original take_away(const Handle& file, const std::string& path) {
  Original original = take_out(file, path);
  need(H5Ldelete(file.id(), path.c_str(), H5P_DEFAULT) >= 0, "deleting " + path);
  return original;
}

namespace {

Step other_type(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  std::string name;
  const Handle type = odd_type(random, name);
  put_dataset(file, path, {type.id(), original.extent, nullptr}, dataset_properties());
  // Numbers are converted where HDF5 can; else there are none.
  const Handle dataset = open_dataset(file, path);
  H5Dwrite(dataset.id(), original.type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, original.bytes.data());
  return {fmt::format("{} becomes {}", path, name)};
}

Step other_extent(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  const Extent extent = odd_extent(random, original.extent);
  const std::size_t element = H5Tget_size(original.type.id());
  std::string bytes;
  const auto needed = static_cast<std::size_t>(points_of(extent)) * element;
  while (bytes.size() < needed) bytes += original.bytes;
  put_dataset(file, path, {original.type.id(), extent, bytes.data()}, dataset_properties());
  return {fmt::format("{} gets the shape {}", path, words_of(extent))};
}

Step other_values(Random& random, const Handle& file, const std::string& path) {
  const Handle dataset = open_dataset(file, path);
  const Extent extent = extent_of_dataset(dataset);
  need(points_of(extent) > 0, path + " is empty");
  std::vector<double> numbers(static_cast<std::size_t>(points_of(extent)));
  need(H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0,
       "reading " + path);
  const Index changes = random.one_in(4) ? static_cast<Index>(numbers.size()) : 1 + random.below(4);
  const double value = odd_real(random);
  for (Index i = 0; i < changes; ++i) numbers[offset_below(random, numbers.size())] = value;
  H5Dwrite(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
  return {fmt::format("{} of the numbers of {} become {:g}", changes, path, value)};
}

// ---- layouts ----

Extent odd_chunk(Random& random, const Extent& extent) {
  Extent chunk;
  for (const hsize_t length : extent)
    chunk.push_back(
        1 + static_cast<hsize_t>(random.below(std::max<Index>(1, static_cast<Index>(length)))));
  chunk[0] = std::max<hsize_t>(chunk[0], extent[0] / 50);
  return chunk;
}

bool is_number(const Handle& type) {
  const H5T_class_t kind = H5Tget_class(type.id());
  return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

std::string add_filters(Random& random, const Handle& properties, hsize_t row, const Handle& type) {
  std::string words;
  if (random.one_in(2) && H5Pset_shuffle(properties.id()) >= 0) words += ", shuffled";
  switch (random.below(4)) {
    case 0:
      H5Pset_deflate(properties.id(), 1 + static_cast<unsigned>(random.below(9)));
      words += ", deflated";
      break;
    case 1:
      if (!is_number(type)) break;  // HDF5 1.10.8 crashes when it packs text of any length
      H5Pset_nbit(properties.id());
      words += ", of n bits";
      break;
    case 2:
      if (row < 8) break;  // of one block
      H5Pset_szip(properties.id(), H5_SZIP_NN_OPTION_MASK, 8);
      words += ", by szip";
      break;
    default: break;
  }
  if (random.one_in(3) && H5Pset_fletcher32(properties.id()) >= 0) words += ", with checksums";
  return words;
}

Step rechunk(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  const Handle properties = dataset_properties();
  const Extent chunk = odd_chunk(random, original.extent);
  H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  const std::string words = add_filters(random, properties, chunk.back(), original.type);
  put_dataset(file, path, {original.type.id(), original.extent, original.bytes.data()}, properties);
  return {fmt::format("{} in chunks of {}{}", path, words_of(chunk), words), Expect::success, path};
}

Step compact(Random&, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  const Handle properties = dataset_properties();
  H5Pset_layout(properties.id(), H5D_COMPACT);
  put_dataset(file, path, {original.type.id(), original.extent, original.bytes.data()}, properties);
  return {path + " in its header", Expect::success, path};
}

/// Contiguous, or in chunks of which the first is written, if at all.
Step unwritten(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  const Handle properties = dataset_properties();
  const bool chunked = random.one_in(2);
  if (chunked) {
    Extent chunk = original.extent;
    chunk[0] = std::max<hsize_t>(1, chunk[0] / 5);
    H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
    if (random.one_in(2)) H5Pset_deflate(properties.id(), 1);
  }
  const double fill = 7;
  if (random.one_in(2)) H5Pset_fill_value(properties.id(), H5T_NATIVE_DOUBLE, &fill);
  if (random.one_in(2)) H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
  put_dataset(file, path, {original.type.id(), original.extent, nullptr}, properties);
  if (!chunked || random.one_in(2)) return {path + " never written", Expect::refusal, path};
  const Handle dataset = open_dataset(file, path);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const std::array<hsize_t, 2> first{};
  Extent count = original.extent;
  count[0] = 1;
  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
  const Handle memory = space_of(count);
  need(H5Dwrite(dataset.id(), original.type.id(), memory.id(), space.id(), H5P_DEFAULT,
                original.bytes.data()) >= 0,
       "writing a row");
  return {path + " written in its first chunk only", Expect::refusal, path};
}

std::size_t leave_as_it_is(unsigned, std::size_t, const unsigned*, std::size_t num, std::size_t*,
                           void**) {
  return num;
}

/// Only this program knows it, and not when it reads.
Step unknown_filter(Random&, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  constexpr H5Z_filter_t number = 32768;
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, number,  1,       1,
                            "unheard-of",     nullptr, nullptr, leave_as_it_is};
  H5Zregister(&filter);
  const Handle properties = dataset_properties();
  H5Pset_chunk(properties.id(), static_cast<int>(original.extent.size()), original.extent.data());
  H5Pset_filter(properties.id(), number, H5Z_FLAG_MANDATORY, 0, nullptr);
  put_dataset(file, path, {original.type.id(), original.extent, original.bytes.data()}, properties);
  H5Fflush(file.id(), H5F_SCOPE_LOCAL);
  H5Zunregister(number);
  return {path + " through a filter that nobody has", Expect::refusal, path};
}

using Change = Step (*)(Random&, const Handle&, const std::string&);

Step change_one(Random& random, const SeedFile& seed, const std::vector<Change>& changes) {
  const std::string& path = choose(random, seed.contents.datasets);
  const Handle file = open_to_write(seed.name);
  return choose(random, changes)(random, file, path);
}

}  // namespace

Step change_numbers(Random& random, const SeedFile& file) {
  return change_one(random, file, {other_type, other_extent, other_values});
}

Step change_layout(Random& random, const SeedFile& file) {
  return change_one(random, file,
                    {rechunk, rechunk, compact, unwritten, unwritten, unknown_filter});
}

}  // namespace zhalo::fuzz
