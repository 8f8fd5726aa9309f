/// Snapshots that are written are read as what they are, for any number of ranks and files.
#include "tests/mpi/io/scratch.hpp"
#include "zhalo/io/result_file.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "tests/mpi/io/hdf5_contents.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/load.hpp"

using namespace zhalo;
using namespace zhalo::io;
namespace fs = std::filesystem;

namespace {

constexpr Index num_all = 103;
constexpr double box_length = 0.1;  // float(0.1) is more

double position_of(Index particle, int axis) {
  return box_length * static_cast<double>((7 * particle + 31 * axis) % 103) / 103;
}
double velocity_of(Index particle, int axis) {
  return 10.0 * static_cast<double>(particle % 11 - 5) + axis;
}
std::uint64_t id_of(Index particle) {
  return (std::uint64_t{1} << 40) + static_cast<std::uint64_t>(particle);
}

SnapshotHeader header() {
  SnapshotHeader header;
  header.box_length = box_length;
  header.scale_factor = 0.25;
  header.hubble = 0.68;
  header.omega_matter = 0.31;
  header.omega_lambda = 0.68;
  header.omega_baryon = 0.05;
  header.parameters = {{"Seed", Index{7}}};
  return header;
}

/// This rank's share of all particles; unevenly, the last rank has none.
template <class Real>
struct Mine {
  std::vector<Real> pos[3];
  std::vector<Real> velocity[3];
  std::vector<std::uint64_t> id;

  explicit Mine(const Communicator& comm) {
    const int ranks = comm.size() > 1 ? comm.size() - 1 : 1;
    const Share share =
        comm.rank() < ranks ? share_of(num_all, comm.rank(), ranks) : Share{num_all, 0};
    for (Index i = share.first; i < share.first + share.count; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        pos[axis].push_back(static_cast<Real>(position_of(i, axis)));
        velocity[axis].push_back(static_cast<Real>(velocity_of(i, axis)));
      }
      id.push_back(id_of(i));
    }
  }

  SnapshotParticles<Real> particles() const {
    SnapshotParticles<Real> all;
    all.num = static_cast<Index>(id.size());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      all.pos[axis] = pos[axis].data();
      all.velocity[axis] = velocity[axis].data();
    }
    all.id = id.data();
    all.mass = 0.125;
    return all;
  }
};

void check_info(const SnapshotInfo& info, bool is_double) {
  CHECK(info.code == Code::gadget4);
  CHECK(info.notes == std::vector<std::string>{});
  REQUIRE(info.types.size() == 6);
  const TypeSummary& dark = info.types[1];
  CHECK(dark.count == num_all);
  CHECK((dark.has_coordinates && dark.has_velocities && dark.has_ids));
  CHECK(dark.double_coordinates == is_double);
  CHECK(dark.double_velocities == is_double);
  CHECK(dark.mass_source == "MassTable");
  CHECK(dark.uniform_mass == 0.125);
  CHECK(info.num_total() == num_all);
  REQUIRE(info.box_length);
  CHECK((*info.box_length)[2] == box_length);
  CHECK(simulation_box(info).periodic[1]);
  CHECK(info.cosmology.scale_factor == 0.25);
  CHECK(*info.cosmology.redshift == Approx(3));
  CHECK(info.cosmology.hubble == 0.68);
  CHECK(info.cosmology.omega_matter == 0.31);
  CHECK(info.cosmology.omega_lambda == 0.68);
  CHECK(info.cosmology.omega_baryon == 0.05);
  CHECK_FALSE(info.units.assumed);
  CHECK(info.units.length_name() == "Mpc/h");
  CHECK(info.units.mass_name() == "1e10 Msun/h");
  CHECK(info.velocity_factor == 0.5);
}

template <class Real>
void check_snapshot(const Context& context, const std::string& path) {
  const Snapshot snapshot = Snapshot::open(context.comm, path);
  check_info(snapshot.info(), sizeof(Real) == 8);
  const auto loaded = load_particles<Real>(context, snapshot, {1});
  const Share share = share_of(num_all, context.comm.rank(), context.comm.size());
  REQUIRE(loaded.particles.num() == share.count);
  for (Index i = 0; i < share.count; ++i) {
    const auto& segment = loaded.particles.segments[0];
    CHECK(loaded.id.data()[i] == id_of(share.first + i));
    CHECK(segment.mass[i] == 0.125);
    for (int axis = 0; axis < 3; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      CHECK(segment.pos[at][i] == static_cast<Real>(position_of(share.first + i, axis)));
      CHECK(segment.velocity[at][i] == Approx(velocity_of(share.first + i, axis)).epsilon(1e-6));
    }
  }
}

template <class Real>
void write(const Communicator& comm, const std::string& out,
           const SnapshotParticles<Real>& particles, const WriteOptions& options) {
  StagedFiles files(comm, out);
  write_snapshot(files, "ics", particles, header(), options);
  files.commit();
  comm.barrier();
}

template <class Real>
void check_written(const std::string& name) {
  const Context context{.comm = Communicator(MPI_COMM_WORLD)};
  const std::string out = scratch(context.comm, name);
  const Mine<Real> mine(context.comm);
  for (const Index num_files : {5, 1, 0, 3}) {  // each over those of the one before
    INFO("files " << num_files);
    write(context.comm, out, mine.particles(), {.num_files = num_files});
    const bool single = num_files == 1 || (num_files == 0 && context.comm.size() == 1);
    check_snapshot<Real>(context, out + (single ? "/ics.hdf5" : "/ics.0.hdf5"));
    check_snapshot<Real>(context, out);
  }
}

}  // namespace

TEST_CASE("a snapshot in float is read as a snapshot of GADGET-4") {
  check_written<float>("float");
}

TEST_CASE("a snapshot in double is read as a snapshot of GADGET-4") {
  check_written<double>("double");
}

TEST_CASE("a snapshot's stored numbers are those of the format") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "stored");
  write(comm, out, Mine<float>(comm).particles(), {.num_files = 1});
  const contents::File file = contents::read(out + "/ics.hdf5");
  CHECK(contents::integers(file, "Header:NumPart_Total") ==
        std::vector<Index>{0, num_all, 0, 0, 0, 0});
  CHECK(contents::integers(file, "Header:NumPart_ThisFile") ==
        std::vector<Index>{0, num_all, 0, 0, 0, 0});
  CHECK(contents::integers(file, "Header:NumFilesPerSnapshot") == std::vector<Index>{1});
  CHECK(contents::integers(file, "Parameters:Seed") == std::vector<Index>{7});
  const contents::Values& velocities = file.datasets.at("PartType1/Velocities");
  CHECK(velocities.extent == std::vector<hsize_t>{num_all, 3});
  std::vector<float> stored(3 * num_all);
  REQUIRE(velocities.bytes.size() == stored.size() * sizeof(float));
  velocities.bytes.copy(reinterpret_cast<char*>(stored.data()), velocities.bytes.size());
  CHECK(stored[5] ==
        static_cast<float>(velocity_of(1, 2) /
                           std::sqrt(0.25)));  // a in place of a^2 dx/dt: divided by sqrt(a)
  CHECK(file.datasets.at("PartType1/ParticleIDs").extent == std::vector<hsize_t>{num_all});
}

TEST_CASE("a snapshot of more rows than are made at once") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() > 1) return;
  const Index num = 720'000;  // rows of 24 bytes: more than 16 MiB
  std::vector<double> x(static_cast<std::size_t>(num));
  std::vector<std::uint64_t> id(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = box_length * static_cast<double>(i) / static_cast<double>(num);
    id[i] = i;
  }
  SnapshotParticles<double> particles;
  particles.num = num;
  for (std::size_t axis = 0; axis < 3; ++axis)
    particles.pos[axis] = particles.velocity[axis] = x.data();
  particles.id = id.data();
  particles.mass = 1;
  const std::string out = scratch(comm, "long");
  write(comm, out, particles, {.num_files = 1});
  const Snapshot snapshot = Snapshot::open(out + "/ics.hdf5");
  std::vector<double> rows(3 * x.size());
  snapshot.read_positions(1, 0, Span<double>(rows));
  bool right = true;
  for (std::size_t i = 0; i < rows.size(); ++i) right = right && rows[i] == x[i / 3];
  CHECK(right);
}

TEST_CASE("the density of a snapshot follows its Hubble constant, if it states one") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "hubble");
  const auto density = [&](const char* name, const std::vector<Note>& stated) {
    SnapshotHeader with = header();
    with.parameters = stated;
    StagedFiles files(comm, out);
    write_snapshot(files, name, Mine<float>(comm).particles(), with, {.num_files = 1});
    files.commit();
    return Snapshot::open(comm, out + "/" + name + ".hdf5").info().cosmology.critical_density;
  };
  const double usual = density("usual", {}).value();
  CHECK(density("same", {{"Hubble", 100.0}}).value() == Approx(usual));
  CHECK(density("other", {{"Hubble", 50.0}}).value() == Approx(usual / 4));
}

TEST_CASE("a header with an Omega that is no number is refused") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "omega");
  for (double SnapshotHeader::*omega :
       {&SnapshotHeader::omega_matter, &SnapshotHeader::omega_lambda,
        &SnapshotHeader::omega_baryon}) {
    SnapshotHeader with = header();
    with.*omega = std::numeric_limits<double>::quiet_NaN();
    StagedFiles files(comm, out);
    CHECK_THROWS_WITH(write_snapshot(files, "ics", Mine<float>(comm).particles(), with),
                      Catch::Contains("Omega of a snapshot is nan"));
  }
}

TEST_CASE("positions at the edge of the box, or a little outside, are stored inside") {
  const Context context{.comm = Communicator(MPI_COMM_WORLD)};
  const std::string out = scratch(context.comm, "edges");
  Mine<float> mine(context.comm);
  const auto edge = static_cast<float>(box_length);
  if (context.comm.rank() == 0) {
    mine.pos[0][0] = edge;  // more than the box length
    mine.pos[1][0] = std::nextafter(edge, 1.0F);
    mine.pos[2][0] = -1e-12F;  // rounds to it
    mine.pos[0][1] = -0.25F * edge;
    mine.pos[1][1] = std::nextafter(edge, 0.0F);
  }
  write(context.comm, out, mine.particles(), {.num_files = 1});
  const auto loaded =
      load_particles<float>(context, Snapshot::open(context.comm, out + "/ics.hdf5"), {1});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (Index i = 0; i < loaded.particles.num(); ++i) {
      const float x = loaded.particles.segments[0].pos[axis][i];
      CHECK((x >= 0 && static_cast<double>(x) < box_length));
    }
  }
  if (context.comm.rank() != 0) return;
  const auto& pos = loaded.particles.segments[0].pos;
  CHECK(pos[0][0] == Approx(0).margin(1e-8));
  CHECK(pos[2][0] == Approx(0).margin(1e-8));
  CHECK(pos[0][1] == Approx(0.75 * box_length));
  CHECK(pos[1][1] == std::nextafter(edge, 0.0F));
}

TEST_CASE("a position whose image rounds to less than 0 is stored as 0") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "below");
  Mine<double> mine(comm);
  if (comm.rank() == 0) mine.pos[1][0] = 350.7731830843009;
  SnapshotHeader wide = header();
  wide.box_length = 70.15463661686019;  // over which the position is rounded to 5
  StagedFiles files(comm, out);
  write_snapshot(files, "ics", mine.particles(), wide, {.num_files = 1});
  files.commit();
  comm.barrier();
  std::vector<double> xyz(3, -1);
  Snapshot::open(comm, out + "/ics.hdf5").read_positions(1, 0, Span<double>(xyz));
  CHECK(xyz[1] == 0);
}

TEST_CASE("snapshots that make no sense are refused on all ranks, and nothing is left") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "bad");
  const auto refused = [&](auto change) {
    Mine<float> mine(comm);
    SnapshotParticles<float> particles = mine.particles();
    SnapshotHeader changed = header();
    if (comm.rank() == 0) change(mine, particles, changed);
    StagedFiles files(comm, out);
    CHECK_THROWS_AS(write_snapshot(files, "ics", particles, changed), InputError);
  };
  refused(
      [](auto& mine, auto&, auto&) { mine.pos[1][0] = std::numeric_limits<float>::quiet_NaN(); });
  refused([](auto& mine, auto&, auto&) {
    mine.velocity[2][0] = std::numeric_limits<float>::infinity();
  });
  refused([](auto&, auto& particles, auto&) { particles.type = 6; });
  refused([](auto&, auto& particles, auto&) { particles.mass = 0; });
  refused([](auto&, auto&, auto& changed) { changed.box_length = 0; });
  refused([](auto&, auto&, auto& changed) { changed.scale_factor = -1; });
  refused([](auto&, auto& particles, auto&) { particles.num = -1; });
  refused([](auto&, auto& particles, auto&) { particles.pos[2] = nullptr; });
  refused([](auto&, auto& particles, auto&) { particles.velocity[0] = nullptr; });
  refused([](auto&, auto& particles, auto&) { particles.id = nullptr; });
  comm.barrier();
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("ranks that disagree on a snapshot are told so, and nothing is left") {
  const Communicator comm(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const std::string out = scratch(comm, "differ");
  const Mine<float> mine(comm);
  const auto refused = [&](auto change, const char* said) {
    SnapshotParticles<float> particles = mine.particles();
    SnapshotHeader changed = header();
    std::string name = "ics";
    if (comm.rank() == 0) change(particles, changed, name);
    StagedFiles files(comm, out);
    CHECK_THROWS_WITH(write_snapshot(files, name, particles, changed, {.num_files = 1}),
                      Catch::Contains(said));
  };
  using H = SnapshotHeader;
  for (double H::*number :
       {&H::box_length, &H::scale_factor, &H::hubble, &H::omega_matter, &H::omega_lambda,
        &H::omega_baryon, &H::length_in_cm, &H::mass_in_g, &H::velocity_in_cm_per_s})
    refused([number](auto&, auto& changed, auto&) { changed.*number *= 1.25; },
            "differ between ranks");
  refused([](auto&, auto& changed, auto&) { changed.parameters[0].value = Index{8}; },
          "differ between ranks");
  refused([](auto&, auto& changed, auto&) { changed.parameters.clear(); }, "differ between ranks");
  refused([](auto& particles, auto&, auto&) { particles.type = 2; }, "differ between ranks");
  refused([](auto&, auto&, auto& name) { name = "snapshot"; }, "differ between ranks");
  // The last rank has no particles: of two, the other alone says the mass.
  if (comm.size() > 2)
    refused([](auto& particles, auto&, auto&) { particles.mass = 0.25; }, "mass 0.125 to 0.25");
  comm.barrier();
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("a rank without particles needs neither mass nor arrays") {
  const Context context{.comm = Communicator(MPI_COMM_WORLD)};
  if (context.comm.size() == 1) return;
  const std::string out = scratch(context.comm, "without");
  const Mine<float> mine(context.comm);
  const bool has_none = mine.id.empty();
  CHECK(has_none == (context.comm.rank() == context.comm.size() - 1));
  write(context.comm, out, has_none ? SnapshotParticles<float>{} : mine.particles(), {});
  check_snapshot<float>(context, out);
}

TEST_CASE("a snapshot without particles has none") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "none");
  write(comm, out, SnapshotParticles<float>{}, {.num_files = 1});
  const contents::File file = contents::read(out + "/ics.hdf5");
  CHECK(contents::integers(file, "Header:NumPart_Total") == std::vector<Index>(6, 0));
}

TEST_CASE("a snapshot of more files than there can be is refused") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch(comm, "many");
  write(comm, out, Mine<float>(comm).particles(), {.num_files = 1});
  if (comm.rank() == 0) {
    const hid_t file = H5Fopen((out + "/ics.hdf5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Adelete_by_name(file, "Header", "NumFilesPerSnapshot", H5P_DEFAULT);
    const hid_t one = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate_by_name(file, "Header", "NumFilesPerSnapshot", H5T_NATIVE_INT64, one, H5P_DEFAULT,
                          H5P_DEFAULT, H5P_DEFAULT);
    const Index num_files = (Index{1} << 32) + 1;
    H5Awrite(attribute, H5T_NATIVE_INT64, &num_files);
    H5Aclose(attribute), H5Sclose(one), H5Fclose(file);
  }
  comm.barrier();
  CHECK_THROWS_WITH(Snapshot::open(comm, out + "/ics.hdf5"),
                    Catch::Contains("one of 4294967297 files of a snapshot"));
}
