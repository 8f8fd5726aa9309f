#include "zhalo/io/catalogue_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "src/io/hdf5/input.hpp"
#include "tests/mpi/io/hdf5_contents.hpp"
#include "tests/mpi/io/invented.hpp"
#include "tests/mpi/io/scratch.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace invented;
namespace fs = std::filesystem;

namespace {

std::string table_path(const std::string& out, int rank) {
  return out + "/groups_042/fof_subhalo_tab_042." + std::to_string(rank) + ".hdf5";
}

/// Without members, of groups of one particle type.
void write_linked(const Communicator& comm, const std::string& out, const Catalogue& catalogue,
                  int type) {
  RunRecord run = run_record();
  run.linked_types = {type};
  StagedFiles files(comm, out);
  write_catalogue(files, {catalogue, {}}, snapshot_of(World()), run);
  files.commit();
}

}  // namespace

TEST_CASE("a catalogue and its membership, one file per rank") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "full");
  const World world;
  const SnapshotInfo snapshot = snapshot_of(world);
  const auto share = [&](Index total) { return share_of(total, comm.rank(), comm.size()); };
  const Catalogue catalogue = table_of(world, share(world.num_groups));
  const auto member_ids = member_ids_of(world, share(world.num_members()));
  const ParticleColumns particles(world, share(world.num_particles()));

  StagedFiles files(comm, out);
  write_catalogue(files, {catalogue, member_ids}, snapshot, run_record());
  write_membership(files, {particles.ranges, particles.group_of, particles.ids}, snapshot,
                   run_record());
  CHECK_FALSE(fs::exists(table_path(out, comm.rank())));
  const auto written = files.commit();
  REQUIRE(written.size() == 2);
  CHECK(written[0] == table_path(out, comm.rank()));
  CHECK(written[1] == out + "/membership_042." + std::to_string(comm.rank()) + ".hdf5");

  const hdf5::InputFile file(table_path(out, comm.rank()));
  const auto rows = static_cast<Index>(catalogue.length.size());
  std::vector<double> velocity(static_cast<std::size_t>(3 * rows));
  file.read("Group/GroupVel", {0, rows}, H5T_NATIVE_DOUBLE, velocity.data());
  CHECK(velocity[0] == 0.5 * catalogue.properties[0].velocity[0]);  // a = 0.5
  std::vector<Index> offset(static_cast<std::size_t>(6 * rows));
  file.read("Group/GroupOffsetType", {0, rows}, H5T_NATIVE_INT64, offset.data());
  const Index first = catalogue.first_group;
  CHECK(offset[1] == 20 * first - first * (first - 1) / 2);
  CHECK(file.text("Parameters", "Snapshot") ==
        (std::filesystem::current_path() / "somewhere/snapshot_042.hdf5").string());
  CHECK(file.reals("Parameters", "LinkingLength") == std::vector<double>{0.15625});
  CHECK(file.integers("Header", "Ngroups_Total") == std::vector<Index>{10});
  CHECK(file.text("Group/GroupVel", "Description").has_value());
}

TEST_CASE("a catalogue and its membership without a record of the run") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "no_record");
  const World world;
  const auto share = [&](Index total) { return share_of(total, comm.rank(), comm.size()); };
  const Catalogue catalogue = table_of(world, share(world.num_groups));
  const ParticleColumns particles(world, share(world.num_particles()));
  StagedFiles files(comm, out);
  write_catalogue(files, {catalogue, {}}, snapshot_of(world), {});
  write_membership(files, {particles.ranges, particles.group_of, particles.ids}, snapshot_of(world),
                   {});
  files.commit();
  const std::string number = std::to_string(comm.rank());
  for (const std::string& path :
       {table_path(out, comm.rank()), out + "/membership_042." + number + ".hdf5"}) {
    const contents::File file = contents::read(path);
    CHECK(file.attributes.at("Parameters:LinkedTypes").extent == std::vector<hsize_t>{0});
    CHECK(file.attributes.count("Parameters:Periodic") == 1);
  }
}

TEST_CASE("a snapshot that was made in memory has no name in what is written of it") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "in_memory");
  const World world;
  SnapshotInfo snapshot = snapshot_of(world);
  snapshot.files.clear();
  const auto share = [&](Index total) { return share_of(total, comm.rank(), comm.size()); };
  const Catalogue catalogue = table_of(world, share(world.num_groups));
  const ParticleColumns particles(world, share(world.num_particles()));
  StagedFiles files(comm, out);
  write_catalogue(files, {catalogue, {}}, snapshot, run_record());
  write_membership(files, {particles.ranges, particles.group_of, particles.ids}, snapshot,
                   run_record());
  files.commit();
  const std::string number = std::to_string(comm.rank());
  for (const std::string& path :
       {table_path(out, comm.rank()), out + "/membership_042." + number + ".hdf5"}) {
    const hdf5::InputFile file(path);
    CHECK(file.text("Parameters", "Snapshot") == "");
    CHECK(file.integers("Parameters", "SnapshotNumber") == std::vector<Index>{42});
  }
}

TEST_CASE("no groups at all is a valid catalogue") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "empty");
  Catalogue catalogue;
  catalogue.num_types = 1;
  write_linked(comm, out, catalogue, 1);
  const hdf5::InputFile file(table_path(out, comm.rank()));
  CHECK(file.shape("Group/GroupPos").value().extent == std::vector<Index>{0, 3});
  CHECK(file.integers("Header", "Ngroups_Total") == std::vector<Index>{0});
}

TEST_CASE("one linked type: its column is where tools look for it") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "one_type");
  Catalogue catalogue;
  catalogue.num_groups_total = 1;
  if (comm.rank() == 0) {
    catalogue.length = {40};
    catalogue.label = {3};
    catalogue.offset = {0};
    catalogue.properties.resize(1);
    catalogue.length_by_type = {40};
    catalogue.mass_by_type = {80};
  }
  write_linked(comm, out, catalogue, 4);
  if (comm.rank() != 0) return;
  std::vector<Index> lengths(6);
  hdf5::InputFile(table_path(out, 0))
      .read("Group/GroupLenType", {0, 1}, H5T_NATIVE_INT64, lengths.data());
  CHECK(lengths == std::vector<Index>{0, 0, 0, 0, 40, 0});
}

TEST_CASE("lengths beyond int32 make wide columns on all ranks") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "wide");
  Catalogue catalogue;
  catalogue.num_groups_total = 1;
  if (comm.rank() == 0) {
    catalogue.length = catalogue.length_by_type = {Index{3} << 31};
    catalogue.label = catalogue.offset = {0};
    catalogue.mass_by_type = {1};
    catalogue.properties.resize(1);
  }
  write_linked(comm, out, catalogue, 1);
  const hdf5::InputFile file(table_path(out, comm.rank()));
  CHECK(file.shape("Group/GroupLen").value().bytes == 8);
  if (comm.rank() != 0) return;
  Index length = 0;
  file.read("Group/GroupLen", {0, 1}, H5T_NATIVE_INT64, &length);
  CHECK(length == Index{3} << 31);
}

TEST_CASE("rows and ids that are not those of all ranks are refused") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "refused");
  const World world;
  const auto share = [&](Index total) { return share_of(total, comm.rank(), comm.size()); };
  const bool is_last = comm.rank() == comm.size() - 1;
  Catalogue catalogue = table_of(world, share(world.num_groups));
  auto ids = member_ids_of(world, share(world.num_members()));
  if (is_last) ids.pop_back();
  StagedFiles files(comm, out);
  const auto write = [&] {
    write_catalogue(files, {catalogue, ids}, snapshot_of(world), run_record());
  };
  const std::string num = std::to_string(world.num_members());
  CHECK_THROWS_WITH(write(), Catch::Contains(" ids for " + num + " members of groups"));
  ids.clear();
  if (is_last) ++catalogue.first_group;
  CHECK_THROWS_WITH(write(), Catch::Contains("rows do not follow one another over the ranks"));
  if (is_last) --catalogue.first_group;
  ++catalogue.num_groups_total;
  CHECK_THROWS_WITH(write(), Catch::Contains("10 in all, where 11 are announced"));
}

TEST_CASE("a catalogue whose columns do not have the same rows is refused") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "lengths");
  const World world;
  const auto share = [&](Index total) { return share_of(total, comm.rank(), comm.size()); };
  const bool is_last = comm.rank() == comm.size() - 1;
  const auto error = [&](const auto& change) {
    Catalogue catalogue = table_of(world, share(world.num_groups));
    if (is_last) change(catalogue);
    StagedFiles files(comm, out);
    try {
      write_catalogue(files, {catalogue, member_ids_of(world, share(world.num_members()))},
                      snapshot_of(world), run_record());
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THAT(error([](Catalogue& c) { c.label.emplace_back(); }), Catch::Contains(" labels"));
  CHECK_THAT(error([](Catalogue& c) { c.offset.emplace_back(); }), Catch::Contains(" offsets"));
  CHECK_THAT(error([](Catalogue& c) { c.properties.emplace_back(); }),
             Catch::Contains(" properties"));
  CHECK_THAT(error([](Catalogue& c) { c.mass_by_type.pop_back(); }), Catch::Contains(" masses"));
  CHECK_THAT(error([](Catalogue& c) { c.length_by_type.clear(); }), Catch::Contains("by type"));
  CHECK(error([](Catalogue&) {}).empty());
}

TEST_CASE("a run that ends before the commit leaves nothing") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "left");
  {
    const World world;
    StagedFiles files(comm, out);
    const Catalogue catalogue =
        table_of(world, share_of(world.num_groups, comm.rank(), comm.size()));
    write_catalogue(files, {catalogue, {}}, snapshot_of(world), run_record());
  }
  comm.barrier();
  CHECK_FALSE(fs::exists(out));
}
