// Numbers that lie in other files or under other names.
#include <fmt/format.h>

#include <filesystem>

#include "tests/fuzz/mutate_structure.hpp"

namespace zhalo::fuzz {

namespace {

/// In a folder of its own: a command that is given the folder of a snapshot finds one snapshot
/// there.
constexpr const char* other_file = "elsewhere/other.hdf5";

Handle new_file(const char* name) {
  std::filesystem::create_directories(std::filesystem::path(name).parent_path());
  Handle file(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  need(file.valid(), std::string("making ") + name);
  return file;
}

Values values_of(const Original& original) {
  return {original.type.id(), original.extent, original.bytes.data()};
}

// ---- raw files ----

/// One or two files of bytes; `lacking` bytes are missing at the end.
Handle external_properties(const std::string& bytes, std::size_t pieces, std::size_t lacking) {
  Handle properties = dataset_properties();
  const std::size_t length = bytes.size() / pieces;
  for (std::size_t k = 0; k < pieces; ++k) {
    const std::string name = fmt::format("raw.{}", k);
    const std::size_t begin = k * length, end = k + 1 == pieces ? bytes.size() : begin + length;
    const std::string part = bytes.substr(begin, end - begin);
    write_file("./" + name, k + 1 == pieces ? part.substr(0, part.size() - lacking) : part);
    need(H5Pset_external(properties.id(), name.c_str(), 0, part.size()) >= 0, "an external file");
  }
  return properties;
}

Step to_raw_files(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  const std::size_t pieces = 1 + offset_below(random, 2);
  const bool is_short = random.one_in(2);
  const std::size_t lacking =
      is_short ? 1 + offset_below(random, original.bytes.size() / pieces) : 0;
  const Handle properties = external_properties(original.bytes, pieces, lacking);
  put_dataset(file, path, {original.type.id(), original.extent, nullptr}, properties);
  const bool is_gone = is_short && random.one_in(3);
  if (is_gone) std::filesystem::remove("raw.0");
  const std::string words =
      is_gone ? "one of which is missing" : fmt::format("which lack {} bytes", lacking);
  return {fmt::format("{} in {} raw file(s), {}", path, pieces, words),
          is_short ? Expect::refusal : Expect::success, path};
}

// ---- virtual datasets ----

/// What a virtual dataset shows; all of it unless told.
struct View {
  std::string file = other_file;
  std::string dataset = "numbers";
  Extent source{};
  hsize_t rows = 0;  ///< that are shown
  bool twice = false;
};

void put_view(const Handle& file, const std::string& path, const Original& original,
              const View& view) {
  const Handle properties = dataset_properties();
  const Handle shown = space_of(original.extent);
  const Handle source = space_of(view.source.empty() ? original.extent : view.source);
  if (view.rows > 0) {
    const Extent first(original.extent.size(), 0);
    Extent count = original.extent;
    count[0] = view.rows;
    for (const Handle* space : {&shown, &source})
      H5Sselect_hyperslab(space->id(), H5S_SELECT_SET, first.data(), nullptr, count.data(),
                          nullptr);
  }
  for (int i = 0; i < (view.twice ? 2 : 1); ++i)
    need(H5Pset_virtual(properties.id(), shown.id(), view.file.c_str(), view.dataset.c_str(),
                        source.id()) >= 0,
         "a virtual dataset");
  put_dataset(file, path, {original.type.id(), original.extent, nullptr}, properties);
}

Step to_virtual(Random&, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  put_dataset(new_file(other_file), "numbers", values_of(original), dataset_properties());
  put_view(file, path, original, {});
  return {path + " shown from another file", Expect::success, path};
}

Step to_virtual_of_same_file(Random&, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  put_dataset(file, "numbers", values_of(original), dataset_properties());
  put_view(file, path, original, {"."});
  return {path + " shown from the same file", Expect::success, path};
}

Step to_virtual_of_itself(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  if (random.one_in(2)) {
    put_view(file, path, original, {".", path});
    return {path + " shows itself", Expect::refusal, path, true};
  }
  put_view(file, path, original, {".", "numbers"});
  put_view(file, "numbers", original, {".", path});
  return {path + " shows what shows it", Expect::refusal, path, true};
}

Step to_virtual_with_gap(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  put_dataset(new_file(other_file), "numbers", values_of(original), dataset_properties());
  View view;
  const hsize_t half = original.extent[0] / 2;
  view.twice = random.one_in(3);  // half of the rows twice are as many as all
  view.rows = view.twice ? half : 1 + static_cast<hsize_t>(offset_below(random, half));
  put_view(file, path, original, view);
  return {fmt::format("{} shows {} rows of another file{}", path, view.rows,
                      view.twice ? ", twice" : ""),
          Expect::refusal, path};
}

/// Numbered files that go on without end: there are none of them, and so no rows.
Step to_virtual_without_end(Random&, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  const Handle properties = dataset_properties();
  const Extent first(original.extent.size(), 0);
  const Extent& block = original.extent;
  Extent max_extent = block, count(block.size(), 1);
  max_extent[0] = H5S_UNLIMITED;
  count[0] = H5S_UNLIMITED;
  const auto rank = static_cast<int>(block.size());
  const Handle shown(H5Screate_simple(rank, block.data(), max_extent.data()), H5Sclose);
  need(H5Sselect_hyperslab(shown.id(), H5S_SELECT_SET, first.data(), block.data(), count.data(),
                           block.data()) >= 0,
       "a selection without end");
  const Handle source = space_of(block);
  need(H5Pset_virtual(properties.id(), shown.id(), "elsewhere/other.%b.hdf5", "numbers",
                      source.id()) >= 0,
       "files without end");
  const Handle dataset(H5Dcreate2(file.id(), path.c_str(), original.type.id(), shown.id(),
                                  H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                       H5Dclose);
  need(dataset.valid(), "making the dataset " + path);
  return {path + " shows files that are numbered without end"};
}

Step to_virtual_of_nothing(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  View view;
  switch (random.below(6)) {
    case 0: view.file = "none.hdf5"; break;
    case 1:
      write_file("./text", "this is not HDF5");
      view.file = "text";
      break;
    case 2: view.file = ".."; break;
    case 4: view.dataset = "none"; break;
    case 5: view.dataset = "unwritten"; break;
    default: view.dataset = "short"; view.source = original.extent;
  }
  Extent one_less = original.extent;
  one_less[0] -= 1;
  const Handle other = new_file(other_file);
  put_dataset(other, "short", {original.type.id(), one_less, original.bytes.data()},
              dataset_properties());
  put_dataset(other, "unwritten", {original.type.id(), original.extent, nullptr},
              dataset_properties());
  put_view(file, path, original, view);
  return {fmt::format("{} shows '{}' of '{}'", path, view.dataset, view.file), Expect::refusal,
          path};
}

// ---- links ----

Step to_soft_link(Random& random, const Handle& file, const std::string& path) {
  need(H5Lmove(file.id(), path.c_str(), file.id(), "elsewhere", H5P_DEFAULT, H5P_DEFAULT) >= 0,
       "moving " + path);
  const bool dangles = random.one_in(3);
  const std::string target = dangles ? (random.one_in(2) ? "/nowhere" : "/" + path) : "/elsewhere";
  H5Lcreate_soft(target.c_str(), file.id(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  return {fmt::format("{} is a soft link to {}", path, target),
          dangles ? Expect::anything : Expect::success, path};
}

Step to_external_link(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  put_dataset(new_file(other_file), "numbers", values_of(original), dataset_properties());
  std::string target = other_file, name = "numbers";
  const Index way = random.below(5);
  if (way == 0) target = "none.hdf5";
  if (way == 1) name = "none";
  if (way == 2) target = "..";
  H5Lcreate_external(target.c_str(), name.c_str(), file.id(), path.c_str(), H5P_DEFAULT,
                     H5P_DEFAULT);
  return {fmt::format("{} is an external link to {} of {}", path, name, target),
          way < 3 ? Expect::anything : Expect::success, path};
}

Step to_other_object(Random& random, const Handle& file, const std::string& path) {
  const Original original = take_away(file, path);
  switch (random.below(4)) {
    case 0: return {path + " deleted"};
    case 1: {
      const Handle group(H5Gcreate2(file.id(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                         H5Gclose);
      return {path + " is a group"};
    }
    case 2: {
      const Handle type(H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose);
      H5Tcommit2(file.id(), path.c_str(), type.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      return {path + " is a type"};
    }
    default:
      H5Lcreate_hard(file.id(), "/", file.id(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
      return {path + " is the root"};
  }
}

Step change_group(Random& random, const Handle& file, const std::string& path) {
  switch (random.below(4)) {
    case 0: H5Ldelete(file.id(), path.c_str(), H5P_DEFAULT); return {path + " deleted"};
    case 1: {
      H5Ldelete(file.id(), path.c_str(), H5P_DEFAULT);
      put_dataset(file, path, fuzz::values_of(std::vector<double>{1, 2}, {2}),
                  dataset_properties());
      return {path + " is a dataset"};
    }
    case 2:
      H5Ldelete(file.id(), path.c_str(), H5P_DEFAULT);
      H5Lcreate_soft(("/" + path).c_str(), file.id(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
      return {path + " is a link to itself"};
    default:
      H5Lmove(file.id(), path.c_str(), file.id(), "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_soft("/elsewhere", file.id(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
      return {path + " is a soft link"};
  }
}

using Change = Step (*)(Random&, const Handle&, const std::string&);

}  // namespace

Step move_numbers(Random& random, const SeedFile& seed) {
  const std::vector<Change> changes{
      to_raw_files,          to_raw_files,          to_virtual,
      to_virtual_of_itself,  to_virtual_with_gap,   to_virtual_of_same_file,
      to_virtual_of_nothing, to_virtual_without_end};
  const std::string& path = choose(random, seed.contents.datasets);
  const Handle file = open_to_write(seed.name);
  return choose(random, changes)(random, file, path);
}

Step change_links(Random& random, const SeedFile& seed) {
  const Handle file = open_to_write(seed.name);
  if (!seed.contents.groups.empty() && random.one_in(4))
    return change_group(random, file, choose(random, seed.contents.groups));
  const std::vector<Change> changes{to_soft_link, to_external_link, to_other_object};
  return choose(random, changes)(random, file, choose(random, seed.contents.datasets));
}

}  // namespace zhalo::fuzz
