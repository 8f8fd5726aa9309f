#include "zhalo/io/catalogue_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "src/io/hdf5_input.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;
namespace fs = std::filesystem;

namespace {

std::string scratch(const Communicator& comm, const std::string& name) {
  const fs::path path = fs::path(ZHALO_SCRATCH_DIR) / ("ranks" + std::to_string(comm.size())) / name;
  if (comm.rank() == 0) fs::remove_all(path);
  comm.barrier();
  return path.string();
}

/// Group g has 20 - g particles of type 1 and g % 3 of type 4, in the order of the snapshot; 50 and 3 more are in no group.
struct Invented {
  static constexpr Index num_groups = 10;
  Index num_dark = 0, num_stars = 0;
  std::vector<Index> group_of;  // all particles: type 1, then type 4
  std::vector<std::vector<Index>> members;

  Invented() : members(num_groups) {
    for (Index g = 0; g < num_groups; ++g) add(g, 20 - g, num_dark);
    add(no_group, 50, num_dark);
    for (Index g = 0; g < num_groups; ++g) add(g, g % 3, num_stars);
    add(no_group, 3, num_stars);
  }
  void add(Index group, Index count, Index& num_of_type) {
    for (Index i = 0; i < count; ++i) {
      if (group != no_group) members[static_cast<std::size_t>(group)].push_back(static_cast<Index>(group_of.size()));
      group_of.push_back(group);
      ++num_of_type;
    }
  }
  Index total() const { return static_cast<Index>(group_of.size()); }
};

std::uint64_t id_of(Index particle) { return 1000 + static_cast<std::uint64_t>(particle); }

SnapshotInfo snapshot_of(const Invented& invented) {
  SnapshotInfo info;
  info.files = {"somewhere/snapshot_042.hdf5"};
  info.number = 42;
  info.types.resize(6);
  info.types[1].count = invented.num_dark;
  info.types[4].count = invented.num_stars;
  info.box_length = Vec3d{{50, 50, 50}};
  info.cosmology.scale_factor = 0.5;
  info.cosmology.redshift = 1;
  info.cosmology.omega_matter = 0.3;
  info.cosmology.hubble = 0.7;
  info.units = {.length_in_cm = 3.085678e24, .mass_in_g = 1.989e43, .velocity_in_cm_per_s = 1e5};
  return info;
}

/// The rows that fall to this rank.
Catalogue table_of(const Invented& invented, const Communicator& comm) {
  const Share rows = share_of(Invented::num_groups, comm.rank(), comm.size());
  Catalogue catalogue;
  catalogue.num_types = 6;
  catalogue.num_groups_total = Invented::num_groups;
  catalogue.first_group = rows.first;
  Index offset = 0;
  for (Index g = 0; g < Invented::num_groups; ++g) {
    const auto& members = invented.members[static_cast<std::size_t>(g)];
    const auto length = static_cast<Index>(members.size());
    if (g >= rows.first && g < rows.first + rows.count) {
      const auto real = static_cast<double>(g);
      catalogue.length.push_back(length);
      catalogue.label.push_back(members.front());
      catalogue.offset.push_back(offset);
      catalogue.mass.push_back(2.0 * static_cast<double>(length));
      catalogue.centre.push_back({{real, 2 * real, 3 * real}});
      catalogue.velocity.push_back({{100 + real, -real, 0}});
      catalogue.velocity_dispersion.push_back(10 + real);
      catalogue.inertia_radius.push_back(0.1);
      catalogue.extent_radius.push_back(0.3);
      for (const Index count : {Index{0}, 20 - g, Index{0}, Index{0}, g % 3, Index{0}}) {
        catalogue.length_by_type.push_back(count);
        catalogue.mass_by_type.push_back(2.0 * static_cast<double>(count));
      }
    }
    offset += length;
  }
  catalogue.num_members_total = offset;
  return catalogue;
}

/// IDs of the members that fall to this rank, in group order.
std::vector<std::uint64_t> ids_of(const Invented& invented, const Communicator& comm) {
  std::vector<std::uint64_t> all;
  for (const auto& members : invented.members) {
    for (const Index particle : members) all.push_back(id_of(particle));
  }
  const Share share = share_of(static_cast<Index>(all.size()), comm.rank(), comm.size());
  return {all.begin() + share.first, all.begin() + share.first + share.count};
}

RunRecord run_record() {
  return {.linking_length = 0.15625,
          .linking_ratio = 0.2,
          .mean_separation = 0.78125,
          .mean_separation_rule = "from the volume",
          .min_members = 11,
          .linked_types = {1, 4},
          .periodic = true};
}

std::string table_path(const std::string& out, int rank) {
  return out + "/groups_042/fof_subhalo_tab_042." + std::to_string(rank) + ".hdf5";
}

}  // namespace

TEST_CASE("a catalogue and its membership, one file per rank") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "full");
  const Invented invented;
  const SnapshotInfo snapshot = snapshot_of(invented);
  const Catalogue catalogue = table_of(invented, comm);
  const auto member_ids = ids_of(invented, comm);
  const Share share = share_of(invented.total(), comm.rank(), comm.size());
  const std::vector<Index> group_of(invented.group_of.begin() + share.first,
                                    invented.group_of.begin() + share.first + share.count);
  std::vector<std::uint64_t> ids;
  for (Index i = 0; i < share.count; ++i) ids.push_back(id_of(share.first + i));

  StagedFiles files(comm, out);
  write_catalogue(files, {catalogue, member_ids}, snapshot, run_record());
  write_membership(files, {ranges_of(snapshot, {1, 4}, share), group_of, ids}, snapshot, run_record());
  CHECK_FALSE(fs::exists(table_path(out, comm.rank())));
  const auto written = files.commit();
  REQUIRE(written.size() == 2);
  CHECK(written[0] == table_path(out, comm.rank()));
  CHECK(written[1] == out + "/membership_042." + std::to_string(comm.rank()) + ".hdf5");

  const hdf5::InputFile file(table_path(out, comm.rank()));
  const auto rows = static_cast<Index>(catalogue.length.size());
  std::vector<double> velocity(static_cast<std::size_t>(3 * rows));
  file.read("Group/GroupVel", {0, rows}, H5T_NATIVE_DOUBLE, velocity.data());
  CHECK(velocity[0] == 0.5 * catalogue.velocity[0][0]);  // a = 0.5
  std::vector<Index> offset(static_cast<std::size_t>(6 * rows));
  file.read("Group/GroupOffsetType", {0, rows}, H5T_NATIVE_INT64, offset.data());
  const Index first = catalogue.first_group;
  CHECK(offset[1] == 20 * first - first * (first - 1) / 2);
  CHECK(file.text("Parameters", "Snapshot") == "somewhere/snapshot_042.hdf5");
  CHECK(file.reals("Parameters", "LinkingLength") == std::vector<double>{0.15625});
  CHECK(file.integers("Header", "Ngroups_Total") == std::vector<Index>{10});
  CHECK(file.text("Group/GroupVel", "Description").has_value());
}

TEST_CASE("no groups at all is a valid catalogue") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "empty");
  const Invented invented;
  Catalogue catalogue;
  catalogue.num_types = 1;
  StagedFiles files(comm, out);
  RunRecord run = run_record();
  run.linked_types = {1};
  write_catalogue(files, {catalogue, {}}, snapshot_of(invented), run);
  files.commit();
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
    catalogue.mass = {80};
    catalogue.centre = catalogue.velocity = {Vec3d{{1, 2, 3}}};
    catalogue.velocity_dispersion = catalogue.inertia_radius = catalogue.extent_radius = {1};
    catalogue.length_by_type = {40};
    catalogue.mass_by_type = {80};
  }
  StagedFiles files(comm, out);
  RunRecord run = run_record();
  run.linked_types = {4};
  write_catalogue(files, {catalogue, {}}, snapshot_of(Invented()), run);
  files.commit();
  if (comm.rank() != 0) return;
  std::vector<Index> lengths(6);
  hdf5::InputFile(table_path(out, 0)).read("Group/GroupLenType", {0, 1}, H5T_NATIVE_INT64, lengths.data());
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
    catalogue.mass = catalogue.mass_by_type = {1};
    catalogue.centre = catalogue.velocity = {Vec3d{}};
    catalogue.velocity_dispersion = catalogue.inertia_radius = catalogue.extent_radius = {0};
  }
  StagedFiles files(comm, out);
  RunRecord run = run_record();
  run.linked_types = {1};
  write_catalogue(files, {catalogue, {}}, snapshot_of(Invented()), run);
  files.commit();
  const hdf5::InputFile file(table_path(out, comm.rank()));
  CHECK(file.shape("Group/GroupLen").value().bytes == 8);
  if (comm.rank() != 0) return;
  Index length = 0;
  file.read("Group/GroupLen", {0, 1}, H5T_NATIVE_INT64, &length);
  CHECK(length == Index{3} << 31);
}

TEST_CASE("a run that ends before the commit leaves nothing") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "left");
  {
    StagedFiles files(comm, out);
    write_catalogue(files, {table_of(Invented(), comm), ids_of(Invented(), comm)}, snapshot_of(Invented()), run_record());
  }
  comm.barrier();
  CHECK_FALSE(fs::exists(out));
}
