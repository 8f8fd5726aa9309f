/// Fields in files: any number of ranks and files together hold what the formula of a cell says.
/// Haloes out of catalogues.
#include <catch2/catch.hpp>
#include <filesystem>
#include <numeric>

#include "tests/mpi/io/hdf5_contents.hpp"
#include "tests/mpi/io/invented.hpp"
#include "tests/mpi/io/scratch.hpp"
#include "tests/mpi/mesh/mesh_case.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/field_file.hpp"
#include "zhalo/io/load.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace zhalo::testing;
namespace fs = std::filesystem;

namespace {

template <class T>
Field<T> numbered_field(const Context& context, const Grid& grid, std::array<int, 2> shape,
                        const Ghosts& ghosts) {
  Field<T> field(context, Decomposition(grid, context.comm.size(), {.shape = shape}), ghosts);
  for (T& value : field.span()) value = T{-1};  // of a ghost, which must not be written
  for_cells(field.cells(), [&](const GridIndex& cell) {
    field.span()[field.layout().offset(cell)] = static_cast<T>(number_of(cell));
  });
  return field;
}

/// Planes [first, first + count) of the numbered field, z fastest.
template <class T>
std::string expected_bytes(const Grid& grid, Index first, Index count) {
  std::vector<T> values;
  for_cells({{{first, 0, 0}}, {{first + count, grid.num[1], grid.num[2]}}},
            [&](const GridIndex& cell) { values.push_back(static_cast<T>(number_of(cell))); });
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
void check_planes(const std::string& path, const Grid& grid, Index first, Index num_files) {
  const contents::File file = contents::read(path);
  const contents::Values& density = file.datasets.at("Density");
  REQUIRE(density.extent.size() == 3);
  CHECK(density.extent[1] == static_cast<hsize_t>(grid.num[1]));
  CHECK(density.extent[2] == static_cast<hsize_t>(grid.num[2]));
  const auto planes = static_cast<Index>(density.extent[0]);
  CHECK((density.bytes == expected_bytes<T>(grid, first, planes)));
  CHECK(contents::integers(file, "Density:FirstPlane") == std::vector<Index>{first});
  CHECK(contents::integers(file, "Density:GridSize") ==
        std::vector<Index>{grid.num[0], grid.num[1], grid.num[2]});
  CHECK(contents::integers(file, "Header:NumFiles") == std::vector<Index>{num_files});
}

FieldRecord record(const std::string& name, const WriteOptions& options) {
  FieldRecord record;
  record.name = name;
  record.files = options;
  record.meaning.text = "numbers of cells";
  record.notes = {{"Window", std::string("cic")}};
  record.parameters = {{"Interlaced", Index{1}}};
  return record;
}

template <class T>
void check_files(const Context& context, const Field<T>& field, const std::string& out,
                 Index asked) {
  const Grid& grid = field.decomposition().grid();
  const Index num_files = asked == 0 ? context.comm.size() : asked;
  StagedFiles files(context.comm, out);
  write_field(files, context, field, record("f", {.num_files = asked, .master = true}),
              invented::snapshot_of(invented::World()));
  files.commit();
  context.comm.barrier();
  if (context.comm.rank() == 0) {
    check_planes<T>(out + "/f.hdf5", grid, 0, 1);
    Index first = 0;
    for (Index number = 0; num_files > 1 && number < num_files; ++number) {
      const std::string path = out + "/f." + std::to_string(number) + ".hdf5";
      check_planes<T>(path, grid, first, num_files);
      first += static_cast<Index>(contents::read(path).datasets.at("Density").extent[0]);
    }
    CHECK((num_files == 1 || first == grid.num[0]));
  }
  context.comm.barrier();
}

template <class T>
void check_shapes(const Context& context, const Grid& grid, const std::string& out) {
  for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
    for (const Ghosts& ghosts :
         {Ghosts{}, Ghosts::all_around(1), Ghosts{{{2, 0, 0}}, {{0, 0, 3}}}}) {
      INFO(grid.num[0] << " planes on " << shape[0] << " x " << shape[1]);
      const Field<T> field = numbered_field<T>(context, grid, shape, ghosts);
      for (const Index asked : {1, 2, 0, 5}) check_files(context, field, out, asked);
    }
  }
}

struct Numbers {
  hid_t type;
  const void* data;
};

/// One number if there is no extent.
void write_dataset(hid_t group, const char* name, const std::vector<hsize_t>& extent,
                   const Numbers& numbers) {
  const hid_t rows =
      extent.empty() ? H5Screate(H5S_SCALAR)
                     : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
  const hid_t set =
      H5Dcreate2(group, name, numbers.type, rows, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, numbers.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data);
  H5Dclose(set), H5Sclose(rows);
}

}  // namespace

TEST_CASE("fields of any decomposition are whole planes in any number of files") {
  const Context context{Communicator(MPI_COMM_WORLD)};
  const std::string out = scratch(context.comm, "fields/shapes");
  check_shapes<float>(context, {{{7, 5, 3}}, Box::periodic_cube(2)}, out);
  check_shapes<double>(context, {{{2, 3, 4}}, Box::periodic_cube(2)},
                       out);  // with 3 ranks or more some have no plane
}

TEST_CASE("the attributes of a field say where it is and what") {
  const Context context{Communicator(MPI_COMM_WORLD)};
  const std::string out = scratch(context.comm, "fields/attributes");
  Box box = Box::periodic_cube(8);
  box.lo = {{1, 2, 3}};
  const Field<float> field =
      numbered_field<float>(context, {{{4, 2, 2}}, box}, {context.comm.size(), 1}, {});
  StagedFiles files(context.comm, out);
  write_field(files, context, field, record("sub.name", {.num_files = 1}),
              invented::snapshot_of(invented::World()));
  files.commit();
  context.comm.barrier();
  const contents::File file = contents::read(out + "/sub.name.hdf5");
  const auto reals = [&](const char* name) {
    std::vector<double> values(3);
    file.attributes.at(name).bytes.copy(reinterpret_cast<char*>(values.data()), 3 * sizeof(double));
    return values;
  };
  CHECK(reals("Density:BoxCorner") == std::vector<double>{1, 2, 3});
  CHECK(reals("Density:BoxSize") == std::vector<double>{8, 8, 8});
  CHECK(std::string(file.attributes.at("Density:Description").bytes.c_str()) == "numbers of cells");
  CHECK(std::string(file.attributes.at("Density:Window").bytes.c_str()) == "cic");
  CHECK(file.attributes.at("Density:Unit").bytes.front() == '\0');
  CHECK(contents::integers(file, "Parameters:Interlaced") == std::vector<Index>{1});
  CHECK(file.attributes.count("Header:Redshift") == 1);
}

TEST_CASE("a folder that cannot hold a field is refused on all ranks") {
  const Context context{Communicator(MPI_COMM_WORLD)};
  const std::string out = scratch(context.comm, "fields/refused");
  const Field<float> field =
      numbered_field<float>(context, Grid::cube(3), {context.comm.size(), 1}, {});
  StagedFiles files(context.comm, out);
  const auto write = [&](const std::string& dataset) {
    FieldRecord wrong = record("f", {});
    wrong.dataset = dataset;
    write_field(files, context, field, wrong, invented::snapshot_of(invented::World()));
  };
  CHECK_THROWS_AS(write("Header"), FileError);  // there is such a group
  CHECK_THROWS_AS(write(""), InputError);
  if (context.comm.size() == 1) return;
  const bool odd = context.comm.rank() == 1;
  CHECK_THROWS_WITH(write(odd ? "Density" : "Mass"), Catch::Contains("differ between ranks"));
  CHECK_THROWS_WITH(write_field(files, context, field, record(odd ? "f" : "g", {}),
                                invented::snapshot_of(invented::World())),
                    Catch::Contains("differ between ranks"));
}

TEST_CASE("haloes are those of the catalogue's rows") {
  const Communicator comm(MPI_COMM_WORLD);
  const invented::World world;
  for (const Index num_files : {1, 3}) {
    const std::string out = scratch(comm, "fields/haloes");
    const Catalogue table =
        invented::table_of(world, share_of(world.num_groups, comm.rank(), comm.size()));
    StagedFiles files(comm, out);
    write_catalogue(files, {table, {}}, invented::snapshot_of(world), invented::run_record(),
                    {.num_files = num_files});
    files.commit();
    comm.barrier();
    const std::string folder = out + "/groups_042";
    for (const std::string& path : std::vector<std::string>{
             folder, folder + "/fof_subhalo_tab_042", folder + "/fof_subhalo_tab_042.0.hdf5"}) {
      const HaloList list = read_haloes(path, 8);
      REQUIRE(list.haloes.size() == 8);
      CHECK(list.box_length == Vec3d{{50, 50, 50}});
      for (Index g = 0; g < 8; ++g) {
        const Halo& halo = list.haloes[static_cast<std::size_t>(g)];
        const auto real = static_cast<double>(g);
        CHECK(halo.centre == Vec3d{{real, 2 * real, 3 * real}});
        CHECK(halo.radius == 0.3);
        CHECK(halo.length == static_cast<Index>(world.members[static_cast<std::size_t>(g)].size()));
        CHECK(halo.mass == 2.0 * static_cast<double>(halo.length));
      }
    }
    CHECK(read_haloes(folder, 100).haloes.size() == static_cast<std::size_t>(world.num_groups));
    CHECK(read_haloes(folder, 1).num_total == world.num_groups);
    comm.barrier();
    if (comm.rank() == 0 && num_files == 3) {
      fs::remove(folder + "/fof_subhalo_tab_042.2.hdf5");
      CHECK_THROWS_WITH(read_haloes(folder, 100),
                        Catch::Contains("fof_subhalo_tab_042.2.hdf5' is missing"));
    }
    comm.barrier();
  }
}

TEST_CASE("haloes of GADGET-4's own catalogue") {
  const std::string path = ZHALO_DATA_DIR "/gadget4-dm64/fof_tab_001.hdf5";
  const contents::Values positions = contents::read(path).datasets.at("Group/GroupPos");
  const HaloList list = read_haloes(path, 1000000);
  REQUIRE(list.haloes.size() == positions.extent.at(0));
  REQUIRE(positions.bytes.size() == list.haloes.size() * 3 * sizeof(float));
  for (std::size_t i = 0; i < list.haloes.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      float value = 0;
      positions.bytes.copy(reinterpret_cast<char*>(&value), sizeof value,
                           (3 * i + static_cast<std::size_t>(axis)) * sizeof value);
      CHECK(list.haloes[i].centre[axis] == static_cast<double>(value));
    }
  }
}

TEST_CASE("of many haloes, only the wanted ones are held") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "many");
  if (comm.rank() != 0) return;
  fs::create_directories(out);
  const std::string path = out + "/fof_subhalo_tab_001.hdf5";
  constexpr Index num = 150001;
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "Group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  /// Row g is g * width, g * width + 1, ...
  const auto write_rows = [&](const char* name, Index width) {
    std::vector<Index> values(static_cast<std::size_t>(num * width));
    std::iota(values.begin(), values.end(), Index{0});
    std::vector<hsize_t> extent{num};
    if (width > 1) extent.push_back(static_cast<hsize_t>(width));
    write_dataset(group, name, extent, {H5T_NATIVE_INT64, values.data()});
  };
  write_rows("GroupPos", 3), write_rows("GroupMass", 1), write_rows("GroupLen", 1);
  H5Gclose(group), H5Fclose(file);
  constexpr Index step = 1000;
  const auto is_wanted = [](const Halo& halo) { return halo.length % step == 0; };
  for (const Index max_haloes : {Index{3}, Index{70}, num}) {
    const HaloList list = read_haloes(path, max_haloes, is_wanted);
    CHECK(list.num_total == num);
    REQUIRE(std::ssize(list.haloes) == std::min(max_haloes, num / step + 1));
    for (std::size_t i = 0; i < list.haloes.size(); ++i) {
      const Index row = static_cast<Index>(i) * step;
      const auto real = static_cast<double>(row);
      CHECK(list.haloes[i].length == row);
      CHECK(list.haloes[i].mass == real);
      CHECK(list.haloes[i].centre == Vec3d{{3 * real, 3 * real + 1, 3 * real + 2}});
    }
  }
  CHECK(read_haloes(path, num).haloes.size() == std::size_t{num});
}

TEST_CASE("what is no catalogue is refused with a remedy") {
  CHECK_THROWS_WITH(read_haloes(ZHALO_DATA_DIR "/gadget4-dm64/snapshot_001.hdf5", 1),
                    Catch::Contains("no catalogue of groups"));
  CHECK_THROWS_WITH(read_haloes(ZHALO_DATA_DIR "/gadget4-dm64", 1),
                    Catch::Contains("name one of them"));
  CHECK_THROWS_AS(read_haloes(ZHALO_DATA_DIR "/nowhere", 1), FileError);
}

TEST_CASE("catalogues that contradict themselves are refused") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "damaged");
  if (comm.rank() != 0) return;
  fs::create_directories(out);
  const std::string path = out + "/fof_subhalo_tab_001.0.hdf5";
  const std::vector<float> zeros(27);
  const auto write_numbers = [&](hid_t group, const char* name, int num_axes) {
    const std::vector<hsize_t> extent(static_cast<std::size_t>(num_axes), 3);
    write_dataset(group, name, extent, {H5T_NATIVE_FLOAT, zeros.data()});
  };
  const auto write_integer = [](hid_t group, const char* name, Index value) {
    const hid_t one = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(group, name, H5T_NATIVE_INT64, one, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, &value);
    H5Aclose(attribute), H5Sclose(one);
  };
  /// A catalogue of 3 groups that says it has so many files and groups, whose centres have so many
  /// axes, and that has no dataset `without`.
  const auto write = [&](Index num_files, int num_axes, Index num_groups = 3,
                         const std::string& without = "") {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "Group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    write_integer(header, "NumFiles", num_files),
        write_integer(header, "Ngroups_ThisFile", num_groups);
    write_numbers(group, "GroupPos", num_axes);
    for (const char* name : {"GroupMass", "GroupLen"}) {
      if (name != without) write_numbers(group, name, 1);
    }
    H5Gclose(group), H5Gclose(header), H5Fclose(file);
  };
  write(1, 2);
  CHECK(read_haloes(path, 10).haloes.size() == 3);
  for (const int num_axes : {0, 1, 3}) {
    write(1, num_axes);
    CHECK_THROWS_AS(read_haloes(path, 10), FileError);
    CHECK_THROWS_WITH(read_haloes(path, 10),
                      Catch::Contains(path + "': /Group/GroupPos has no row of 3 numbers"));
  }
  for (const char* name : {"GroupMass", "GroupLen"}) {
    write(1, 2, 3, name);
    CHECK_THROWS_WITH(read_haloes(path, 10),
                      Catch::Contains(path) && Catch::Contains(std::string("/Group/") + name));
  }
  write(1, 2, 4);
  CHECK_THROWS_AS(read_haloes(path, 10), FileError);
  CHECK_THROWS_WITH(read_haloes(path, 10),
                    Catch::Contains(path + "': the Header says 4 groups, /Group/GroupPos has 3"));
  for (const Index num_files : {Index{0}, Index{-1}, Index{2000000}, (Index{1} << 32) + 1}) {
    write(num_files, 2);
    CHECK_THROWS_AS(read_haloes(path, 10), FileError);
    CHECK_THROWS_WITH(read_haloes(path, 10),
                      Catch::Contains(std::to_string(num_files) + " files of a catalogue"));
  }
}
