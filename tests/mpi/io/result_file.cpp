/// Numbers about particles: any number of files for any number of ranks together hold what one rank
/// writes into one file.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/mpi/io/hdf5_contents.hpp"
#include "tests/mpi/io/invented.hpp"
#include "tests/mpi/io/scratch.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/result_file.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace invented;
namespace fs = std::filesystem;

namespace {

/// Numbers that name their particle: p * width + index in the row, over all types.
struct Numbers {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<Index> integers;
  Results results;

  Numbers(const SnapshotInfo& snapshot, const std::vector<int>& types, Share share) {
    for (Index i = share.first; i < share.first + share.count; ++i) {
      doubles.push_back(0.5 * static_cast<double>(i));
      for (Index j = 0; j < 3; ++j) {
        floats.push_back(static_cast<float>(3 * i + j));
        integers.push_back(3 * i + j);
      }
    }
    results.types = types;
    results.ranges = types == std::vector<int>{no_type}
                         ? std::vector<TypeRange>{{no_type, share.first, share.count}}
                         : ranges_of(snapshot, types, share);
    add("Distances", Span<const float>(floats), 3);
    add("Indices", Span<const Index>(integers), 3);
    add("Density", Span<const double>(doubles), 0);
    Meaning& distance = results.columns[0].meaning;
    distance.a = distance.length = 1;
    distance.h = -1;
    distance.text = "how far";
    results.columns[1].meaning.text = "which";
    results.columns[1].notes = {{"Missing", Index{-1}}};
    Meaning& density = results.columns[2].meaning;
    density.a = density.length = -3;
    density.h = 2;
    density.mass = 1;
    results.parameters = {
        {"K", Index{3}}, {"MaxRadius", 1.5}, {"Kernel", std::string("cubic")}, {"Types", types}};
  }

 private:
  template <class T>
  void add(const char* name, Span<const T> values, Index width) {
    ResultColumn& column = results.columns.emplace_back();
    column.name = name;
    column.values = values;
    column.width = width;
  }
};

template <class T>
std::vector<T> values_of(const contents::File& file, const std::string& dataset) {
  const contents::Values& values = file.datasets.at(dataset);
  std::vector<T> numbers(values.bytes.size() / sizeof(T));
  values.bytes.copy(reinterpret_cast<char*>(numbers.data()), values.bytes.size());
  return numbers;
}

double real_of(const contents::File& file, const std::string& attribute) {
  double value = 0;
  file.attributes.at(attribute).bytes.copy(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

/// Particle p of the world has the numbers of p.
void check_rows(const contents::File& file, const std::string& group, Index first, Index count) {
  const auto floats = values_of<float>(file, group + "/Distances");
  const auto integers = values_of<Index>(file, group + "/Indices");
  const auto doubles = values_of<double>(file, group + "/Density");
  REQUIRE(file.datasets.at(group + "/Distances").extent ==
          std::vector<hsize_t>{static_cast<hsize_t>(count), 3});
  REQUIRE(file.datasets.at(group + "/Density").extent ==
          std::vector<hsize_t>{static_cast<hsize_t>(count)});
  for (Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    CHECK(doubles[row] == 0.5 * static_cast<double>(first + i));
    for (Index j = 0; j < 3; ++j) {
      CHECK(integers[3 * row + static_cast<std::size_t>(j)] == 3 * (first + i) + j);
      CHECK(floats[3 * row + static_cast<std::size_t>(j)] ==
            static_cast<float>(3 * (first + i) + j));
    }
  }
}

std::string numbered(const std::string& out, Index number) {
  return out + "/sub.name." + std::to_string(number) + ".hdf5";
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Index entries_of(const std::string& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

/// The datasets of numbered files, one after the other.
std::map<std::string, contents::Values> joined(const std::string& out, Index num_files) {
  std::map<std::string, contents::Values> all;
  for (Index number = 0; number < num_files; ++number) {
    const contents::File file = contents::read(numbered(out, number));
    for (const auto& [name, values] : file.datasets) {
      const std::string group = name.substr(0, name.find('/'));
      const Index before = number == 0 ? 0 : static_cast<Index>(all.at(name).extent[0]);
      CHECK(contents::integers(file, group + ":FirstParticle") == std::vector<Index>{before});
      if (number == 0) {
        all[name] = values;
      } else {
        all.at(name).extent[0] += values.extent[0];
        all.at(name).bytes += values.bytes;
      }
    }
    CHECK(contents::integers(file, "Header:NumFiles") == std::vector<Index>{num_files});
  }
  return all;
}

/// A file of numbers for each star, as it was written. Collective.
contents::File written_of_stars(const Communicator& comm, const std::string& out,
                                const World& world, const SnapshotInfo& snapshot) {
  StagedFiles files(comm, out);
  const Numbers mine(snapshot, {4}, share_of(world.num_stars, comm.rank(), comm.size()));
  write_results(files, "r", mine.results, snapshot, {.num_files = 1});
  files.commit();
  comm.barrier();
  return contents::read(out + "/r.hdf5");
}

}  // namespace

TEST_CASE(
    "the rows of particles of two types are in the snapshot's order, for any number of ranks and "
    "files") {
  const World world;
  const SnapshotInfo snapshot = snapshot_of(world);
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator alone;
  const std::string out = scratch(comm, "types");
  if (comm.rank() == 0) {
    StagedFiles files(alone, out + "/reference");
    write_results(files, "sub.name", Numbers(snapshot, {1, 4}, {0, world.num_particles()}).results,
                  snapshot, {.num_files = 1});
    CHECK(files.commit() == std::vector<std::string>{out + "/reference/sub.name.hdf5"});
  }
  comm.barrier();
  const contents::File reference = contents::read(out + "/reference/sub.name.hdf5");
  check_rows(reference, "PartType1", 0, world.num_dark);
  check_rows(reference, "PartType4", world.num_dark, world.num_stars);
  CHECK(contents::integers(reference, "Header:NumPart_Total") ==
        std::vector<Index>{0, world.num_dark, 0, 0, world.num_stars, 0});
  const Numbers mine(snapshot, {1, 4}, share_of(world.num_particles(), comm.rank(), comm.size()));
  for (const Index asked : {7, 1, 3, 0, 2}) {  // each over the files of the one before
    const Index num_files = asked == 0 ? comm.size() : asked;
    const bool master = asked != 3;
    StagedFiles files(comm, out);
    write_results(files, "sub.name", mine.results, snapshot,
                  {.num_files = asked, .master = master});
    files.commit();
    comm.barrier();  // each rank removes earlier files of its own
    if (comm.rank() == 0) {
      INFO("files " << asked);
      const bool whole = num_files == 1 || master;
      CHECK(entries_of(out) == 1 + (num_files == 1 ? 0 : num_files) + (whole ? 1 : 0));
      if (num_files == 1)
        CHECK((bytes_of(out + "/sub.name.hdf5") == bytes_of(out + "/reference/sub.name.hdf5")));
      if (num_files > 1) CHECK(joined(out, num_files) == reference.datasets);
      if (whole) {
        const contents::File seen = contents::read(out + "/sub.name.hdf5");
        CHECK(seen.datasets == reference.datasets);
        CHECK(seen.attributes == reference.attributes);
      }
    }
    comm.barrier();
  }
}

TEST_CASE("a row of one number may be a table") {
  const World world;
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "table");
  StagedFiles files(comm, out);
  Numbers mine(snapshot_of(world), {4}, share_of(world.num_stars, comm.rank(), comm.size()));
  mine.results.columns[2].width = 1;
  write_results(files, "r", mine.results, snapshot_of(world), {.num_files = 1});
  files.commit();
  comm.barrier();
  const contents::File file = contents::read(out + "/r.hdf5");
  CHECK(file.datasets.at("PartType4/Density").extent ==
        std::vector<hsize_t>{static_cast<hsize_t>(world.num_stars), 1});
}

TEST_CASE("units and meanings are attributes") {
  const World world;
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "units");
  const SnapshotInfo snapshot = snapshot_of(world);
  const contents::File file = written_of_stars(comm, out, world, snapshot);
  const double length = snapshot.units.length_in_cm;
  CHECK(real_of(file, "PartType4/Density:to_cgs") ==
        Approx(snapshot.units.mass_in_g / (length * length * length)));
  CHECK(real_of(file, "PartType4/Density:h_scaling") == 2);
  CHECK(real_of(file, "PartType4/Distances:to_cgs") == length);
  const auto text = [&](const char* name) {
    return std::string(file.attributes.at(name).bytes.c_str());
  };
  CHECK(text("PartType4/Density:Unit") == "(1e10 Msun/h) (Mpc/h)^-3");
  CHECK(text("PartType4/Distances:Unit") == "Mpc/h");
  CHECK(text("PartType4/Indices:Unit").empty());
  CHECK(text("Parameters:Kernel") == "cubic");
  CHECK(text("Parameters:Snapshot") ==
        (std::filesystem::current_path() / snapshot.files[0]).string());
  CHECK(contents::integers(file, "PartType4/Indices:Missing") == std::vector<Index>{-1});
}

TEST_CASE("results of a snapshot that was made in memory name no snapshot") {
  const World world;
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "in_memory");
  SnapshotInfo snapshot = snapshot_of(world);
  snapshot.files.clear();
  const contents::File file = written_of_stars(comm, out, world, snapshot);
  CHECK(file.attributes.at("Parameters:Snapshot").bytes == std::string(1, '\0'));
}

TEST_CASE("points that are no particles have a group of their own") {
  const World world;
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "points");
  StagedFiles files(comm, out);
  const Numbers mine(snapshot_of(world), {no_type}, share_of(11, comm.rank(), comm.size()));
  write_results(files, "r", mine.results, snapshot_of(world), {.num_files = 1});
  files.commit();
  comm.barrier();
  const contents::File file = contents::read(out + "/r.hdf5");
  check_rows(file, "Query", 0, 11);
  CHECK(contents::integers(file, "Header:NumPart_Total") == std::vector<Index>(6));
}

TEST_CASE("results that do not fit are refused on all ranks, and nothing is left") {
  const World world;
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "bad");
  const SnapshotInfo snapshot = snapshot_of(world);
  const Share share = share_of(world.num_particles(), comm.rank(), comm.size());
  const auto refused = [&](auto change) {
    Numbers mine(snapshot, {1, 4}, share);
    if (comm.rank() == comm.size() - 1) change(mine.results);
    StagedFiles files(comm, out);
    CHECK_THROWS_AS(write_results(files, "r", mine.results, snapshot), InputError);
  };
  refused([](Results& r) { r.columns[1].width = 2; });
  refused([](Results& r) { r.columns[1].width = -1; });
  refused([](Results& r) { r.columns[2].values = Span<const double>(); });
  refused([](Results& r) { r.ranges[0].first += 1; });
  refused([](Results& r) { r.ranges[0].type = 17; });
  refused([](Results& r) { r.types = {1, 2}; });
  refused([](Results& r) { r.types = {4, 1}; });
  refused([](Results& r) { r.types = {1, 1, 4}; });
  refused([](Results& r) { r.types = {no_type - 1, 1, 4}; });
  refused([](Results& r) { r.ranges.push_back({1, 0, 0}); });  // after one of type 1 or 4
  comm.barrier();
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("types of results that do not ascend on any rank are refused, and nothing is left") {
  const World world;
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "order");
  const SnapshotInfo snapshot = snapshot_of(world);
  Numbers mine(snapshot, {1, 4}, share_of(world.num_particles(), comm.rank(), comm.size()));
  const std::vector<int> wrong[] = {{4, 1}, {1, 4, 4}, {no_type - 1, 1, 4}};
  for (const std::vector<int>& types : wrong) {
    mine.results.types = types;
    StagedFiles files(comm, out);
    CHECK_THROWS_WITH(write_results(files, "r", mine.results, snapshot),
                      Catch::Contains("must be ascending, each once"));
  }
  comm.barrier();
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("ranks that disagree on results are told so, and nothing is left") {
  const World world;
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const std::string out = scratch(comm, "disagree");
  const SnapshotInfo snapshot = snapshot_of(world);
  const bool odd = comm.rank() == comm.size() - 1;
  const Share share = share_of(world.num_particles(), comm.rank(), comm.size());
  const std::vector<float> densities(static_cast<std::size_t>(share.count), 1);
  const auto refused = [&](auto change, const char* name = "r") {
    Numbers mine(snapshot, {1, 4}, share);
    if (odd) change(mine.results);
    StagedFiles files(comm, out);
    CHECK_THROWS_WITH(write_results(files, odd ? name : "r", mine.results, snapshot),
                      Catch::Contains("results, their types or their columns differ"));
  };
  refused([](Results& r) { r.types = {1, 4, 5}; });
  refused([&](Results& r) { r.columns[2].values = Span<const float>(densities); });
  refused([](Results& r) { r.columns[2].width = 1; });
  refused([](Results& r) { r.columns[0].name = "Radii"; });
  refused([](Results& r) { r.columns.pop_back(); });
  refused([](Results&) {}, "q");
  comm.barrier();
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("the files of a name") {
  CHECK(is_result_name("out", "out.hdf5"));
  CHECK(is_result_name("out", "out.0.hdf5"));
  CHECK(is_result_name("out", "out.123.hdf5"));
  for (const char* other :
       {"out.x.hdf5", "out..hdf5", "out1.hdf5", "out.0.hdf", "out", "an_out.hdf5", "out.0.1.hdf5"})
    CHECK_FALSE(is_result_name("out", other));
}
