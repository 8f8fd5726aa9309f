#include "zhalo/io/snapshot.hpp"

#include <cmath>

#include "src/io/snapshot/files.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/unit/io/source.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;

namespace {

/// A way in which the source's particles are written down.
struct Style {
  std::string path;
  Code code;
  double length_factor = 1;
  bool double_coordinates = false;
  std::uint64_t id_offset = 0;
  std::size_t num_files = 1;
};

const std::vector<Style>& styles() {
  static const std::vector<Style> all{
      {source::data + "/gadget4-dm64/snapshot_001.hdf5", Code::gadget4},
      {source::good("split"), Code::gadget4, 1, false, 0, 3},
      {source::good("double/snapshot_001"), Code::gadget4, 1, true},
      {source::good("ids64"), Code::gadget4, 1, false, std::uint64_t{1} << 40},
      {source::good("gadget2"), Code::gadget},
      {source::good("flat"), Code::gadget},
      {source::good("arepo/snapdir_001"), Code::arepo, 1000, true, 0, 3},
      {source::good("eagle/snapshot_001_z000p000"), Code::eagle, 1, true, 0, 2},
      {source::good("gizmo/snapdir_001"), Code::gizmo, 1, false, 0, 2},
      {source::good("swift/snap_0001.hdf5"), Code::swift, 1 / source::hubble, true},
      {source::good("swift_distributed/snap_0001.hdf5"), Code::swift, 1 / source::hubble, true},
      {source::good("swift_distributed/snap_0001/snap_0001.1.hdf5"), Code::swift,
       1 / source::hubble, true, 0, 2},
  };
  return all;
}

/// Reads all of a type in pieces of odd sizes that cross the files' borders.
template <class T, class Read>
std::vector<T> in_pieces(Index count, int components, const Read& read) {
  std::vector<T> all(static_cast<std::size_t>(count * components));
  Index size = 1;
  for (Index first = 0; first < count; first += size, size = 3 * size + 1) {
    const Index here = std::min(size, count - first);
    read(first, Span<T>(all.data() + first * components, here * components));
    if (here < size) break;
  }
  return all;
}

double largest_difference(const std::vector<double>& a, const std::vector<float>& b,
                          double factor) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = testing::larger(largest, std::abs(a[i] - factor * double{b[i]}));
  return largest;
}

}  // namespace

TEST_CASE("every style holds the same particles") {
  for (const Style& style : styles()) {
    INFO(style.path);
    const Snapshot snapshot = Snapshot::open(style.path);
    const SnapshotInfo& info = snapshot.info();
    CHECK(info.code == style.code);
    CHECK(info.number == 1);
    REQUIRE(info.files.size() == style.num_files);
    REQUIRE(info.types.at(1).count == source::num);
    CHECK(info.types[1].has_coordinates);
    CHECK(info.types[1].has_velocities);
    CHECK(info.types[1].has_ids);
    CHECK(info.types[1].double_coordinates == style.double_coordinates);
    REQUIRE(info.box_length);
    CHECK((*info.box_length)[2] == Approx(50 * style.length_factor).epsilon(1e-15));

    const auto position = in_pieces<double>(source::num, 3, [&](Index first, Span<double> to) {
      snapshot.read_positions(1, first, to);
    });
    CHECK(largest_difference(position, source::positions(), style.length_factor) <=
          1e-15 * 50 * style.length_factor);
    const auto velocity = in_pieces<double>(source::num, 3, [&](Index first, Span<double> to) {
      snapshot.read_velocities(1, first, to);
    });
    CHECK(largest_difference(velocity, source::velocities(), 1) == 0);
    const auto id = in_pieces<std::uint64_t>(
        source::num, 1,
        [&](Index first, Span<std::uint64_t> to) { snapshot.read_ids(1, first, to); });
    const auto source_ids = source::ids();
    bool same = true;
    for (std::size_t i = 0; i < id.size(); ++i)
      same = same && id[i] == source_ids[i] + style.id_offset;
    CHECK(same);
  }
}

TEST_CASE("float and double targets agree") {
  const Snapshot snapshot = Snapshot::open(source::good("split"));
  std::vector<float> single(3 * source::num);
  std::vector<double> wide(single.size());
  snapshot.read_positions(1, 0, Span<float>(single));
  CHECK(single == source::positions());
  snapshot.read_velocities(1, 0, Span<float>(single));
  CHECK(single == source::velocities());
  snapshot.read_masses(1, 0, Span<float>(single.data(), source::num));
  snapshot.read_masses(1, 0, Span<double>(wide.data(), source::num));
  CHECK(single.front() == static_cast<float>(wide.front()));
  const Span<float> nothing(nullptr, 3);
  CHECK_THROWS_WITH(snapshot.read_masses(1, 0, nothing), "3 numbers are to be read to null");
  CHECK_THROWS_AS(snapshot.read_positions(1, 0, nothing), InputError);
  CHECK_THROWS_AS(snapshot.read_ids(1, 0, Span<std::uint64_t>(nullptr, 3)), InputError);
}

TEST_CASE("integer positions are fractions of the box") {
  const auto source_positions = source::positions();
  for (const int bits : {32, 64}) {
    const Snapshot snapshot = Snapshot::open(source::good("integer" + std::to_string(bits)));
    CHECK(snapshot.info().types[1].double_coordinates);
    std::vector<double> position(3 * source::num);
    snapshot.read_positions(1, 0, Span<double>(position));
    CHECK(largest_difference(position, source_positions, 1) <= 50 * std::ldexp(1.0, -bits) + 1e-14);
  }
}

TEST_CASE("masses come from where each code keeps them") {
  const auto mass_of = [](const std::string& path, int type) {
    const Snapshot snapshot = Snapshot::open(path);
    std::vector<double> mass(5);
    snapshot.read_masses(type, 0, Span<double>(mass));
    return std::pair(snapshot.info().types[static_cast<std::size_t>(type)].mass_source, mass[4]);
  };
  CHECK(mass_of(source::good("arepo/snapdir_001"), 1).first == "MassTable");
  CHECK(mass_of(source::good("arepo/snapdir_001"), 1).second == Approx(source::particle_mass));
  CHECK(mass_of(source::good("gizmo/snapdir_001"), 1).first == "Masses");
  CHECK(mass_of(source::good("gizmo/snapdir_001"), 1).second == Approx(source::particle_mass));
  CHECK(mass_of(source::good("eagle/snapshot_001_z000p000"), 4) ==
        std::pair(std::string("Mass"), double{0.1f}));
  CHECK(mass_of(source::good("swift"), 1).second == Approx(source::particle_mass / source::hubble));
  SnapshotOverrides overrides;
  overrides.masses[1] = 2.5;
  const Snapshot snapshot = Snapshot::open(source::snapshots + "/bad/no_masses.hdf5", overrides);
  CHECK(snapshot.info().types[1].mass_source == "user");
  CHECK(snapshot.info().types[1].uniform_mass == 2.5);
  for (const double no_mass : {-1.0, std::nan(""), HUGE_VAL}) {
    overrides.masses[1] = no_mass;
    CHECK_THROWS_WITH(Snapshot::open(source::snapshots + "/bad/no_masses.hdf5", overrides),
                      Catch::Contains("for type 1 is negative or not finite"));
  }
}

TEST_CASE("a type without coordinates is there but has none") {
  const Snapshot snapshot = Snapshot::open(source::good("arepo/snapdir_001"));
  CHECK(snapshot.info().types.at(3).count == 7);
  CHECK_FALSE(snapshot.info().types[3].has_coordinates);
  std::vector<float> xyz(3);
  CHECK_THROWS_AS(snapshot.read_positions(3, 0, Span<float>(xyz)), InputError);
}

TEST_CASE("units and cosmology of each code") {
  const auto info_of = [](const std::string& path) { return Snapshot::open(path).info(); };
  SECTION("GADGET-4 at z = 1.02") {
    const auto info = info_of(source::data + "/gadget4-dm64/snapshot_000.hdf5");
    CHECK(info.cosmology.scale_factor.value() == Approx(0.4945390874327027).epsilon(1e-15));
    CHECK(info.velocity_factor == Approx(std::sqrt(0.4945390874327027)).epsilon(1e-15));
    CHECK(info.cosmology.omega_matter == 0.308);
    CHECK(info.cosmology.omega_baryon == 0.0482);
    CHECK(info.units.length_name() == "Mpc/h");
    CHECK(info.units.mass_name() == "1e10 Msun/h");
    CHECK(info.periodic == true);
    CHECK_FALSE(info.units.assumed);
  }
  SECTION("AREPO") {
    const auto info = info_of(source::good("arepo/snapdir_001"));
    CHECK(info.units.length_name() == "kpc/h");
    CHECK(info.cosmology.omega_baryon == 0.0486);
    // 27.75 (1e10 Msun/h) / (Mpc/h)^3
    CHECK(info.cosmology.critical_density.value() == Approx(27.75e-9).epsilon(1e-3));
  }
  SECTION("EAGLE keeps a in ExpansionFactor") {
    const auto info = info_of(source::good("eagle/snapshot_001_z000p000"));
    CHECK(info.cosmology.scale_factor == 1.0);
    CHECK(info.units.length_name() == "Mpc/h");
  }
  SECTION("GIZMO") {
    const auto info = info_of(source::good("gizmo/snapdir_001"));
    CHECK(info.cosmology.omega_matter == 0.308);
    CHECK(info.cosmology.omega_baryon == 0.048);
    CHECK(info.version == "2022");
    CHECK(info.units.length_name() == "Mpc/h");
    CHECK(info.units.mass_name() == "1e10 Msun/h");
    CHECK(info.cosmology.critical_density.value() == Approx(27.75).epsilon(1e-3));
  }
  SECTION("SWIFT: no h, and internal units that differ from the file's") {
    const auto info = info_of(source::good("swift"));
    CHECK(info.units.length_name() == "Mpc");
    CHECK(info.units.mass_name() == "1e10 Msun");
    CHECK(info.units.velocity_in_cm_per_s == Approx(2e5));
    CHECK(info.cosmology.omega_cdm == 0.26);
    CHECK(info.velocity_factor == 1);
    CHECK(info.cosmology.critical_density.value() == Approx(27.75 * 0.678 * 0.678).epsilon(1e-3));
    CHECK(info.types.size() == 7);
  }
  SECTION("a real SWIFT file") {
    const auto info = info_of(source::data + "/swift-dm64/snap_0000.hdf5");
    CHECK(info.code == Code::swift);
    CHECK(info.version == "2026.04");
    CHECK(info.types.at(1).count == source::num);
    CHECK(info.types[1].mass_source == "Masses");
    CHECK(info.box_length.value()[0] == 73.74631268436578);
    CHECK(info.cosmology.scale_factor.value() == Approx(0.75));
    CHECK(info.periodic == true);
  }
  SECTION("no units stated: the mass in the box tells kpc from Mpc, and the user is told") {
    for (const char* masses : {"gadget2", "gadget2_masses"}) {  // in the header, of each particle
      INFO(masses);
      const auto info = info_of(source::good(masses));
      CHECK(info.units.assumed);
      CHECK(info.units.length_name() == "Mpc/h");
      CHECK(info.notes.size() == 1);
      CHECK(describe(info).find("assumed") != std::string::npos);
      SnapshotOverrides other;
      // One particle in ten thousand is nearer to Omega_matter in Mpc/h, one in a hundred thousand
      // in kpc/h. No box has more than all of it.
      for (const auto& [factor, unit] :
           {std::pair{0.4, "Mpc/h"}, {1e-4, "Mpc/h"}, {1e-5, "kpc/h"}, {2.5, "kpc/h"}}) {
        other.masses[1] = factor * source::particle_mass;
        CHECK(Snapshot::open(source::good(masses), other).info().units.length_name() == unit);
      }
      SnapshotOverrides overrides;
      overrides.cosmology.critical_density = 30;  // the user's, whatever the units are
      const auto given = Snapshot::open(source::good(masses), overrides).info();
      CHECK(given.units.length_name() == "Mpc/h");
      CHECK(given.cosmology.critical_density == 30);
      CHECK(given.cosmology.critical_density_source == "given by the user");
    }
  }
}

TEST_CASE(
    "counts that have lost their high bits are taken from the datasets, and the user is told") {
  for (const std::string kind : {"with", "without", "zero"}) {
    INFO(kind);
    const Snapshot snapshot =
        Snapshot::open(source::snapshots + "/huge/" + kind + "_high_word_004");
    const SnapshotInfo& info = snapshot.info();
    CHECK(info.types[1].count == (Index{1} << 32) + 5);
    CHECK(info.notes.size() >= (kind == "with" ? 1 : 2));  // NumPart_ThisFile, NumPart_Total
    std::vector<std::uint64_t> ids(10);
    CHECK_THROWS_WITH(snapshot.read_ids(1, info.types[1].count - 10, Span<std::uint64_t>(ids)),
                      Catch::Contains("never written"));
  }
}

TEST_CASE("a sample of the particles is named as such") {
  const auto info = Snapshot::open(source::snapshots + "/subsampled/snap_0005").info();
  REQUIRE(info.notes.size() == 1);
  CHECK(info.notes[0].find("sample") != std::string::npos);
}

TEST_CASE("the user's word overrides the file's") {
  SnapshotOverrides overrides;
  overrides.box_length = 60;
  overrides.unit_length_in_cm = 3.085678e21;
  overrides.cosmology.omega_matter = 0.3;
  const auto info = Snapshot::open(source::good("split"), overrides).info();
  CHECK(info.box_length.value() == Vec3d{{60, 60, 60}});
  CHECK(info.units.length_name() == "kpc/h");
  CHECK(info.cosmology.omega_matter == 0.3);
  CHECK(info.cosmology.hubble == 0.678);
}

TEST_CASE("the table names what was found") {
  const std::string text = describe(Snapshot::open(source::good("split")).info());
  for (const char* word : {"GADGET-4", "snapshot_001.0.hdf5", "262144", "MassTable", "50 Mpc/h",
                           "Omega_m 0.308", "h 0.678"}) {
    INFO(word);
    CHECK(text.find(word) != std::string::npos);
  }
}

TEST_CASE("the box to search in") {
  SnapshotInfo info;
  CHECK_FALSE(simulation_box(info).any_periodic());
  CHECK_THROWS_AS(simulation_box(info, Periodicity::yes), InputError);
  info.box_length = Vec3d{{50, 50, 50}};
  CHECK(simulation_box(info) == Box::periodic_cube(50));
  CHECK_FALSE(simulation_box(info, Periodicity::no).any_periodic());
  info.periodic = false;
  CHECK_FALSE(simulation_box(info).any_periodic());
  CHECK(simulation_box(info, Periodicity::yes) == Box::periodic_cube(50));
  CHECK_THROWS_AS(simulation_box(info, static_cast<Periodicity>(3)), InputError);
}

TEST_CASE("a code that is no enumerator has no name") {
  CHECK(name_of(Code::gizmo) == "GIZMO");
  CHECK_THROWS_AS(name_of(static_cast<Code>(6)), InputError);
}

TEST_CASE("numbers of snapshots in their names") {
  CHECK(snapshot_number("snapshot_007") == 7);
  CHECK(snapshot_number("snap_028_z000p000") == 28);
  CHECK(snapshot_number("snap0042") == 42);
  CHECK(snapshot_number("snap042") == 42);
  CHECK(snapshot_number("dm64") == 0);
  CHECK(snapshot_number("box_2_snapshot_1234") == 1234);
  CHECK(snapshot_number("cosmo-dm64") == 0);
  CHECK(snapshot_number("ics") == 0);
}

TEST_CASE("any name of a snapshot will do") {
  for (const char* name :
       {"split", "split/snapshot_001", "split/snapshot_001.0.hdf5", "split/snapshot_001.2.hdf5"}) {
    CHECK(Snapshot::open(source::good(name)).info().files.front() ==
          source::good("split/snapshot_001.0.hdf5"));
  }
  CHECK(Snapshot::open(source::good("double/snapshot_001")).info().files.front() ==
        source::good("double/snapshot_001.hdf5"));
}
