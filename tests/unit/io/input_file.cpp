/// What InputFile takes and refuses of files that HDF5 itself reads without a word.
#include "src/io/hdf5/input.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>

#include "src/io/hdf5/output.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace zhalo::io::hdf5;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

std::string scratch(const std::string& name) {
  fs::create_directories(ZHALO_SCRATCH_DIR);
  return std::string(ZHALO_SCRATCH_DIR) + "/" + name;
}

Handle new_file(const std::string& name) {
  return {H5Fcreate(scratch(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
}

Handle properties_of_dataset() { return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose}; }

Handle dataset(const Handle& file, const std::vector<hsize_t>& extent, const Handle& properties) {
  const Handle space = simple_space(extent);
  return {H5Dcreate2(file.id(), "data", H5T_NATIVE_INT32, space.id(), H5P_DEFAULT, properties.id(),
                     H5P_DEFAULT),
          H5Dclose};
}

/// Rows [first, first + num) of so many.
Handle rows_of(hsize_t all, hsize_t first, hsize_t num) {
  Handle space = simple_space({all});
  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &first, nullptr, &num, nullptr);
  return space;
}

/// A file with `data`: the numbers from `first` on.
void write_source(const std::string& name, int first, int num) {
  std::vector<int> values(static_cast<std::size_t>(num));
  std::iota(values.begin(), values.end(), first);
  const Handle file = new_file(name);
  const Handle set = dataset(file, {values.size()}, properties_of_dataset());
  REQUIRE(H5Dwrite(set.id(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
}

/// What a virtual dataset shows of a source.
struct Shown {
  const Handle& where;
  std::string file;
  hsize_t source_rows;
  hsize_t first = 0;
};
void write_virtual(const std::string& name, hsize_t rows, const std::vector<Shown>& parts) {
  const Handle file = new_file(name);
  const Handle properties = properties_of_dataset();
  for (const Shown& part : parts) {
    const Handle source =
        part.first == 0 ? simple_space({part.source_rows})
                        : rows_of(part.first + part.source_rows, part.first, part.source_rows);
    REQUIRE(H5Pset_virtual(properties.id(), part.where.id(), part.file.c_str(), "data",
                           source.id()) >= 0);
  }
  REQUIRE(dataset(file, {rows}, properties).valid());
}

/// Reads rows of `data`, or says why not.
std::string reading(const std::string& name, Rows rows, std::vector<std::int32_t>& values) {
  values.assign(static_cast<std::size_t>(rows.count), -1);
  try {
    InputFile(scratch(name)).read("data", rows, H5T_NATIVE_INT32, values.data());
  } catch (const FileError& error) {
    return error.what();
  }
  return "read";
}
std::string reading(const std::string& name, Rows rows) {
  std::vector<std::int32_t> values;
  return reading(name, rows, values);
}

void write_text(const Handle& object, const char* name, const Handle& type, const Handle& space,
                const void* text) {
  const Handle attribute(
      H5Acreate2(object.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  REQUIRE(H5Awrite(attribute.id(), type.id(), text) >= 0);
}

/// The first of 8 numbers, in chunks of 4.
void write_sevens(const std::string& name, hsize_t num) {
  const Handle file = new_file(name);
  const Handle properties = properties_of_dataset();
  const hsize_t chunk = 4;
  H5Pset_chunk(properties.id(), 1, &chunk);
  const Handle set = dataset(file, {8}, properties);
  const std::vector<std::int32_t> values(num, 7);
  const Handle memory = simple_space({num}), rows = rows_of(8, 0, num);
  REQUIRE(H5Dwrite(set.id(), H5T_NATIVE_INT32, memory.id(), rows.id(), H5P_DEFAULT,
                   values.data()) >= 0);
}

}  // namespace

TEST_CASE("input file: texts are without what pads them") {
  {
    const Handle file = new_file("texts.hdf5");
    const Handle header(H5Gcreate2(file.id(), "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                        H5Gclose);
    const Handle one(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), 6);
    H5Tset_strpad(type.id(), H5T_STR_SPACEPAD);
    write_text(header, "spaces", type, one, "ab c  ");
    write_text(header, "only spaces", type, one, "      ");
    write_text(header, "control", type, one,
               "a\x1b\x7f"
               "c  ");
    write_text(header, "two", type, simple_space({2}), "one   two   ");
    H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
    write_text(header, "full", type, one, "abcdef");
    H5Tset_size(type.id(), H5T_VARIABLE);
    const char* const words = "some words ";
    write_text(header, "variable", type, one, &words);
  }
  const InputFile file(scratch("texts.hdf5"));
  CHECK(file.text("Header", "spaces") == "ab c");
  CHECK(file.text("Header", "only spaces") == "");
  CHECK(file.text("Header", "control") == "a??c");
  CHECK(file.text("Header", "full") == "abcdef");
  CHECK(file.text("Header", "variable") == "some words");
  CHECK_FALSE(file.text("Header", "two").has_value());
  CHECK_FALSE(file.text("Header", "none").has_value());
}

TEST_CASE("input file: datasets that claim more numbers than there can be are refused") {
  {
    const Handle file = new_file("huge.hdf5");
    const Handle properties = properties_of_dataset();
    const std::vector<hsize_t> chunk{1, 1024};
    H5Pset_chunk(properties.id(), 2, chunk.data());
    REQUIRE(dataset(file, {hsize_t{1} << 30, hsize_t{1} << 30}, properties).valid());
  }
  CHECK_THROWS_WITH(InputFile(scratch("huge.hdf5")).shape("data"), Contains("claims 1.15e+18"));
}

TEST_CASE("input file: the last chunk counts, though it is not full") {
  {
    const Handle file = new_file("chunks.hdf5");
    const Handle properties = properties_of_dataset();
    const hsize_t chunk = 4;
    H5Pset_chunk(properties.id(), 1, &chunk);
    const Handle set = dataset(file, {10}, properties);
    const std::vector<int> values(8, 1);
    const Handle memory = simple_space({8}), rows = rows_of(10, 0, 8);
    REQUIRE(H5Dwrite(set.id(), H5T_NATIVE_INT32, memory.id(), rows.id(), H5P_DEFAULT,
                     values.data()) >= 0);
  }
  CHECK_THAT(reading("chunks.hdf5", {0, 10}), Contains("1 of its 3 chunks were never written"));
}

TEST_CASE("input file: only datasets without a missing chunk are remembered as complete") {
  const auto complete = std::make_shared<CompleteDatasets>();
  const std::string path = scratch("remembered.hdf5");
  const auto read_first = [&] {
    std::vector<int> values(4);
    InputFile(path, complete).read("data", {0, 4}, H5T_NATIVE_INT, values.data());
    return values;
  };
  write_sevens("remembered.hdf5", 4);
  for (int time = 0; time < 2; ++time) {
    CHECK_THROWS_WITH(read_first(), Contains("1 of its 2 chunks were never written"));
    CHECK_FALSE(complete->has(path, "/data"));
  }
  write_sevens("remembered.hdf5", 8);
  for (int time = 0; time < 2; ++time) {
    CHECK(read_first() == std::vector<int>(4, 7));
    CHECK(complete->has(path, "/data"));
  }
  CHECK_FALSE(complete->has(path, "/other"));
}

TEST_CASE("input file: datasets of the same name behind links to other files") {
  write_sevens("whole.hdf5", 8);
  write_sevens("part.hdf5", 4);
  {
    const Handle file = new_file("links.hdf5");
    for (const char* name : {"whole", "part"})
      REQUIRE(H5Lcreate_external((std::string(name) + ".hdf5").c_str(), "data", file.id(), name,
                                 H5P_DEFAULT, H5P_DEFAULT) >= 0);
  }
  const InputFile file(scratch("links.hdf5"), std::make_shared<CompleteDatasets>());
  std::vector<int> values(8);
  file.read("whole", {0, 8}, H5T_NATIVE_INT, values.data());
  CHECK(values == std::vector<int>(8, 7));
  CHECK_THROWS_WITH(file.read("part", {0, 8}, H5T_NATIVE_INT, values.data()),
                    Contains("1 of its 2 chunks were never written"));
}

TEST_CASE("input file: external files must hold all that lies in them") {
  const auto write = [](const std::string& name, const std::vector<std::array<hsize_t, 2>>& parts) {
    const Handle file = new_file(name + ".hdf5");
    const Handle properties = properties_of_dataset();
    for (std::size_t i = 0; i < parts.size(); ++i)
      H5Pset_external(properties.id(), (name + std::to_string(i)).c_str(),
                      static_cast<off_t>(parts[i][0]), parts[i][1]);
    REQUIRE(dataset(file, {10}, properties).valid());  // 40 bytes
  };
  const auto put = [](const std::string& name, std::size_t bytes) {
    std::ofstream(scratch(name), std::ios::binary) << std::string(bytes, 'x');
  };
  const auto missing = [](const std::string& name) {
    const std::string path = scratch(name + ".hdf5");
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const Handle set(H5Dopen2(file.id(), "data", H5P_DEFAULT), H5Dclose);
    return missing_part(set.id(), path, {0, 10});
  };
  ::setenv("HDF5_EXTFILE_PREFIX", "${ORIGIN}", 1);
  write("behind", {{100, 40}});
  put("behind0", 139);
  CHECK_THAT(missing("behind"), Contains("has 139 bytes, but 140 are needed"));
  put("behind0", 140);
  CHECK(missing("behind").empty());
  write("two", {{0, 20}, {0, H5F_UNLIMITED}});
  put("two0", 20);
  put("two1", 19);
  CHECK_THAT(missing("two"), Contains("has 19 bytes, but 20 are needed"));
  put("two1", 20);
  CHECK(missing("two").empty());
  ::unsetenv("HDF5_EXTFILE_PREFIX");
}

TEST_CASE("input file: parts of virtual datasets must be there, as long as they are shown") {
  write_source("five.hdf5", 100, 5);
  write_source("four.hdf5", 200, 4);
  const Handle front = rows_of(10, 0, 5), back = rows_of(10, 5, 5);
  std::vector<std::int32_t> values;

  write_virtual("whole.hdf5", 10, {{front, "five.hdf5", 5}, {back, "five.hdf5", 5}});
  CHECK(reading("whole.hdf5", {3, 4}, values) == "read");
  CHECK(values == std::vector<std::int32_t>{103, 104, 100, 101});

  write_virtual("short.hdf5", 10, {{front, "five.hdf5", 5}, {back, "four.hdf5", 5}});
  CHECK_THAT(reading("short.hdf5", {0, 10}), Contains("does not have its size"));
  write_virtual("too_far.hdf5", 10, {{front, "five.hdf5", 5}, {back, "five.hdf5", 5, 1}});
  CHECK_THAT(reading("too_far.hdf5", {0, 10}), Contains("does not have its size"));
  write_source("six.hdf5", 300, 6);
  write_virtual("last_five.hdf5", 10, {{front, "five.hdf5", 5}, {back, "six.hdf5", 5, 1}});
  CHECK(reading("last_five.hdf5", {4, 3}, values) == "read");
  CHECK(values == std::vector<std::int32_t>{104, 301, 302});

  write_virtual("gone.hdf5", 10, {{front, "nowhere.hdf5", 5}, {back, "five.hdf5", 5}});
  CHECK_THAT(reading("gone.hdf5", {4, 1}), Contains("nowhere.hdf5', which is missing"));
  CHECK_THAT(reading("gone.hdf5", {0, 1}), Contains("nowhere.hdf5', which is missing"));
  CHECK(reading("gone.hdf5", {5, 5}, values) == "read");
  CHECK(values == std::vector<std::int32_t>{100, 101, 102, 103, 104});
  write_virtual("gone_behind.hdf5", 10, {{front, "five.hdf5", 5}, {back, "nowhere.hdf5", 5}});
  CHECK_THAT(reading("gone_behind.hdf5", {4, 2}), Contains("nowhere.hdf5', which is missing"));
  CHECK(reading("gone_behind.hdf5", {4, 1}, values) == "read");
}

TEST_CASE("input file: parts of virtual datasets are where HDF5 finds them") {
  for (const char* folder : {"parts", "links", "links_of_links"}) {
    fs::remove_all(scratch(folder));
    fs::create_directory(scratch(folder));
  }
  write_source("parts/part.hdf5", 100, 5);
  const Handle all = simple_space({5});
  for (const std::string name : {"part.hdf5", "/nowhere/part.hdf5"}) {
    INFO(name);
    write_virtual("parts/all.hdf5", 5, {{all, name, 5}});
    fs::remove(scratch("links/all.hdf5"));
    fs::remove(scratch("links_of_links/all.hdf5"));
    fs::create_symlink("../parts/all.hdf5", scratch("links/all.hdf5"));
    fs::create_symlink("../links/all.hdf5", scratch("links_of_links/all.hdf5"));
    for (const char* path : {"parts/all.hdf5", "links/all.hdf5", "links_of_links/all.hdf5"}) {
      std::vector<std::int32_t> values;
      CHECK_NOTHROW(InputFile(scratch(path)).check_readable("data"));
      CHECK(reading(path, {0, 5}, values) == "read");
      CHECK(values == std::vector<std::int32_t>{100, 101, 102, 103, 104});
    }
  }
  fs::copy_file(scratch("parts/all.hdf5"), scratch("links/copy.hdf5"));
  CHECK_THROWS_WITH(InputFile(scratch("links/copy.hdf5")).check_readable("data"),
                    Contains("its /data lies in '/nowhere/part.hdf5', which is missing"));
  CHECK_THAT(reading("links/copy.hdf5", {0, 5}), Contains("which is missing"));
}

TEST_CASE("input file: parts of a dataset behind an external link are beside what holds it") {
  for (const char* folder : {"linking", "linking/held"}) fs::create_directories(scratch(folder));
  const Handle all = simple_space({5});
  write_virtual("linking/held/shown.hdf5", 5, {{all, "part.hdf5", 5}});
  {
    const Handle file(
        H5Fcreate(scratch("linking/link.hdf5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
        H5Fclose);
    REQUIRE(H5Lcreate_external("held/shown.hdf5", "data", file.id(), "data", H5P_DEFAULT,
                               H5P_DEFAULT) >= 0);
  }
  std::vector<std::int32_t> values;
  write_source("linking/held/part.hdf5", 100, 5);
  CHECK_NOTHROW(InputFile(scratch("linking/link.hdf5")).check_readable("data"));
  CHECK(reading("linking/link.hdf5", {0, 5}, values) == "read");
  CHECK(values == std::vector<std::int32_t>{100, 101, 102, 103, 104});
  // HDF5 does not look beside the link, and would read zeros.
  fs::rename(scratch("linking/held/part.hdf5"), scratch("linking/part.hdf5"));
  CHECK_THAT(reading("linking/link.hdf5", {0, 5}), Contains("part.hdf5', which is missing"));
}

TEST_CASE("input file: why a part of a virtual dataset cannot be opened") {
  const Handle all = simple_space({5});
  const auto fault = [&](const char* name) {
    write_virtual("faulty.hdf5", 5, {{all, name, 5}});
    return reading("faulty.hdf5", {0, 5});
  };
  std::ofstream(scratch("text.hdf5")) << "no numbers";
  CHECK_THAT(fault("text.hdf5"), Contains("text.hdf5' is not an HDF5 file"));
  fs::create_directories(scratch("folder.hdf5"));
  CHECK_THAT(fault("folder.hdf5"), Contains("folder.hdf5' is not a file"));
  fs::remove(scratch("loop.hdf5"));
  fs::create_symlink("loop.hdf5", scratch("loop.hdf5"));
  CHECK_THAT(fault("loop.hdf5"), Contains("Too many levels of symbolic links"));
  CHECK_THROWS_WITH(InputFile(scratch("faulty.hdf5")).check_readable("data"),
                    Contains("Too many levels of symbolic links"));
  // As another program that writes it would lock it.
  write_source("locked.hdf5", 100, 5);
  const int lock = ::open(scratch("locked.hdf5").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  CHECK_THAT(fault("locked.hdf5"), Contains("locked.hdf5' cannot be locked"));
  ::close(lock);
  CHECK(fault("locked.hdf5") == "read");
}

TEST_CASE("input file: parts of virtual datasets must be blocks that fill it") {
  write_source("five.hdf5", 100, 5);
  write_source("two.hdf5", 200, 2);
  write_source("four.hdf5", 300, 4);
  // They meet in one row, and the last row is nobody's.
  const Handle front = rows_of(10, 0, 5), middle = rows_of(10, 4, 5);
  write_virtual("overlap.hdf5", 10, {{front, "five.hdf5", 5}, {middle, "five.hdf5", 5}});
  CHECK_THAT(reading("overlap.hdf5", {0, 10}), Contains("some of its parts overlap"));
  write_virtual("gap.hdf5", 10, {{front, "five.hdf5", 5}});
  CHECK_THAT(reading("gap.hdf5", {0, 5}), Contains("its parts hold 5 of 10 numbers"));

  const Handle ends = rows_of(6, 0, 2), inside = rows_of(6, 2, 2);
  const hsize_t last = 4, num = 2;
  H5Sselect_hyperslab(ends.id(), H5S_SELECT_OR, &last, nullptr, &num, nullptr);
  write_virtual("no_block.hdf5", 6, {{ends, "four.hdf5", 4}, {inside, "two.hdf5", 2}});
  CHECK_THAT(reading("no_block.hdf5", {0, 6}), Contains("its parts are no blocks"));

  const Handle all = simple_space({6});
  write_virtual("of_itself.hdf5", 6, {{all, ".", 6}});
  CHECK_THAT(reading("of_itself.hdf5", {0, 6}), Contains("its parts cannot be found"));
}

TEST_CASE("output file: datasets that show others, whatever their names, and none of some") {
  const std::vector<std::string> names{"100%b.hdf5", "empty.hdf5", "50%%.hdf5"};
  const std::vector<std::int32_t> values{1, 2, 3, 4, 5};
  const DatasetView like = cells_of(Span<const std::int32_t>(values));
  const std::vector<Share> shares{{0, 3}, {3, 0}, {3, 2}};
  std::vector<SourceRows> sources;
  for (std::size_t i = 0; i < names.size(); ++i) {
    OutputFile file(scratch(names[i]), names[i]);
    file.make_dataset("data", like, shares[i].count);
    file.write_rows("data", 0, like.part(shares[i]));
    file.close();
    sources.push_back({names[i], shares[i].count});
  }
  OutputFile file(scratch("master.hdf5"), "master.hdf5");
  file.make_virtual_dataset("data", like, sources);
  file.close();
  std::vector<std::int32_t> found;
  CHECK(reading("master.hdf5", {0, 5}, found) == "read");
  CHECK(found == values);
}
