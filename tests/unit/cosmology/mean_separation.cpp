#include "zhalo/io/load.hpp"

#include <cmath>
#include <limits>

#include "tests/unit/io/source.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;
using Catch::Contains;
using Catch::StartsWith;

namespace {

constexpr double tight = 1e-14;

MeanSeparation of_file(const std::string& path, const char* rule) {
  const Snapshot snapshot = Snapshot::open(path);
  return mean_separation(matter_of(snapshot.info(), {1}), summarise_masses({}, snapshot, {1}),
                         parse_mean_separation(rule));
}

/// A box of 10^3 in which 1000 particles of mass 0.3 are all the matter: Omega_m 0.3, rho_crit 1.
/// Both rules give 1.
SnapshotInfo small_box() {
  SnapshotInfo info;
  info.types.resize(6);
  info.types[1].count = 1000;
  info.box_length = Vec3d{{10, 10, 10}};
  info.cosmology.omega_matter = 0.3;
  info.cosmology.omega_baryon = 0.05;
  info.cosmology.critical_density = 1;
  return info;
}

MassSummary masses(double mass, Index count = 1000) { return {count, mass, mass, mass}; }

}  // namespace

TEST_CASE("GADGET-4: the lengths that the code itself logged") {
  const std::string last = source::data + "/gadget4-dm64/snapshot_001.hdf5";
  CHECK(0.2 * of_file(last, "volume").chosen == Approx(0.15625).epsilon(tight));
  CHECK(0.2 * of_file(last, "rho").chosen == Approx(0.15625000000003153).epsilon(1e-12));
  CHECK(of_file(last, "auto").chosen == of_file(last, "volume").chosen);
  CHECK(of_file(last, "auto").warning.empty());
  CHECK(0.2 * of_file(source::data + "/gadget4-dm64/snapshot_000.hdf5", "rho").chosen ==
        Approx(0.1562500000000171).epsilon(1e-12));
}

TEST_CASE("SWIFT: the length that the code itself used") {
  const std::string path = source::data + "/swift-dm64/snap_0000.hdf5";
  CHECK(0.2 * of_file(path, "rho").chosen == Approx(0.23044019763406123).epsilon(tight));
  CHECK(0.2 * of_file(path, "volume").chosen == Approx(0.23045722713864311).epsilon(tight));
  CHECK(of_file(path, "auto").chosen == of_file(path, "volume").chosen);
}

TEST_CASE("SWIFT with gas: the density is that of cold dark matter") {
  SnapshotInfo info = Snapshot::open(source::data + "/swift-dm64/snap_0000.hdf5").info();
  info.types[0].count = source::num;
  const MassSummary dark{source::num, 5.073851585388184, 5.073851585388184, 5.073851585388184};
  const MeanSeparation separation = mean_separation(matter_of(info, {1}), dark);
  CHECK(0.2 * separation.chosen == Approx(0.23044020054036027).epsilon(tight));
  CHECK_THAT(separation.how, Contains("gas"));
}

TEST_CASE("dark matter of a run whose gas was left out") {
  SnapshotInfo info = Snapshot::open(source::data + "/swift-dm64/snap_0000.hdf5").info();
  const MassSummary dark{source::num, 5.073851585388184, 5.073851585388184, 5.073851585388184};
  const double expected = 0.23044020054036027;  // as with gas
  SECTION("the file says nothing of gas") {
    const MeanSeparation separation = mean_separation(matter_of(info, {1}), dark);
    CHECK(0.2 * separation.chosen == Approx(expected).epsilon(1e-4));
    CHECK_THAT(separation.how, Contains("fills the box"));
    CHECK_THAT(separation.warning, Contains("is taken (automatic: from the volume"));
  }
  SECTION("the file says that it left gas out") {
    info.types[0].left_out = source::num;
    const MeanSeparation separation = mean_separation(matter_of(info, {1}), dark);
    CHECK(0.2 * separation.chosen == Approx(expected).epsilon(tight));
    CHECK_THAT(separation.how, Contains("gas"));
  }
}

TEST_CASE("the same file in other styles and units") {
  const auto b = [](const char* path, const char* rule) {
    return 0.2 * of_file(source::good(path), rule).chosen;
  };
  CHECK(b("arepo/snapdir_001", "auto") == Approx(156.25).epsilon(tight));
  CHECK(b("arepo/snapdir_001", "rho") == Approx(156.25).epsilon(1e-12));
  CHECK(b("gizmo/snapdir_001", "auto") == Approx(0.15625).epsilon(tight));
  CHECK(b("eagle/snapshot_001_z000p000", "auto") == Approx(0.15625).epsilon(tight));
  CHECK(b("gadget2", "auto") == Approx(0.15625).epsilon(tight));
  CHECK(b("swift", "auto") == Approx(0.15625 / 0.678).epsilon(tight));
  CHECK(b("swift", "rho") == Approx(0.15625 / 0.678).epsilon(1e-7));  // masses are in float32 there
}

TEST_CASE("auto: the volume only for one equal-mass type that fills the box") {
  const auto rule_of = [](const SnapshotInfo& info, const std::vector<int>& types,
                          const MassSummary& summary) {
    const MeanSeparation separation = mean_separation(matter_of(info, types), summary);
    return separation.chosen == separation.from_volume ? "volume" : "density";
  };
  SnapshotInfo info = small_box();
  CHECK(rule_of(info, {1}, masses(0.3 * 1.009)) == std::string("volume"));
  CHECK(rule_of(info, {1}, masses(0.3 * 0.901)) == std::string("volume"));
  CHECK(rule_of(info, {1}, masses(0.3 * 1.011)) == std::string("density"));
  CHECK(rule_of(info, {1}, masses(0.3 * 0.899)) == std::string("density"));
  MassSummary unequal = masses(0.301);
  unequal.min = 0.299;
  CHECK(rule_of(info, {1}, unequal) == std::string("density"));
  info.types[2].count = 1;
  CHECK(rule_of(info, {1, 2}, masses(0.301)) == std::string("density"));
  info.types[0].count = 1;
  CHECK(rule_of(info, {1}, masses(0.2505)) == std::string("density"));
}

/// Omega_m of a GADGET header contains neutrinos. They are particles of another type, or none.
TEST_CASE("auto: dark matter beside massive neutrinos is as dense as its particles are") {
  SnapshotInfo info = small_box();
  info.types[2].count = 1000;
  for (const double neutrinos : {0.005, 0.015, 0.03, 0.09}) {
    const MeanSeparation separation =
        mean_separation(matter_of(info, {1}), masses(0.3 * (1 - neutrinos)));
    CHECK(separation.chosen == Approx(1).epsilon(tight));
    CHECK(separation.warning.empty() == (std::cbrt(1 / (1 - neutrinos)) <= 1.01));
  }
}

TEST_CASE("with gas the density is that of what is linked") {
  SnapshotInfo info = small_box();
  info.types[0].count = 1000;
  const auto chosen = [&](const std::vector<int>& types, const MassSummary& linked) {
    return mean_separation(matter_of(info, types), linked).chosen;
  };
  CHECK(chosen({0}, masses(0.05)) == Approx(1).epsilon(tight));
  CHECK(chosen({1}, masses(0.25)) == Approx(1).epsilon(tight));
  CHECK(chosen({0, 1}, {2000, 0.15, 0.05, 0.25}) == Approx(std::cbrt(0.5)).epsilon(tight));
  info.types[4].count = 10;
  CHECK(chosen({0, 4}, masses(0.05)) == Approx(1).epsilon(tight));
  CHECK_THAT(mean_separation(matter_of(info, {4}), masses(0.05, 10)).warning,
             Contains("differ") && !Contains("one resolution"));
  info.types[5].count = 1;  // a black hole
  CHECK(chosen({0, 4, 5}, masses(0.05)) == Approx(1).epsilon(tight));
  info.cosmology.omega_baryon.reset();
  CHECK_THROWS_WITH(chosen({0}, masses(0.05)), Contains("Omega_b"));
}

TEST_CASE("with gas the baryons are left out of what dark matter stands for") {
  SnapshotInfo info = small_box();
  info.types[0].count = 1000;
  const auto separation =
      mean_separation(matter_of(info, {1}), masses(0.25), {MeanSeparationRule::density, 0});
  CHECK(separation.chosen == Approx(1).epsilon(tight));
  info.cosmology.omega_baryon.reset();
  CHECK_THROWS_WITH(
      mean_separation(matter_of(info, {1}), masses(0.25), {MeanSeparationRule::density, 0}),
      Contains("Omega_b"));
}

TEST_CASE("a zoom: the density, and a word about the difference") {
  const auto separation = mean_separation(matter_of(small_box(), {1}), masses(0.3, 10));
  CHECK(separation.chosen == Approx(1).epsilon(tight));
  CHECK(separation.from_volume.value() == Approx(std::cbrt(100.0)).epsilon(tight));
  CHECK_THAT(separation.warning, Contains("differ") && Contains("one resolution"));
  const auto warning_of = [](double length) {  // from the density; that from the volume is 1
    return mean_separation(matter_of(small_box(), {1}), masses(0.3 * std::pow(length, 3))).warning;
  };
  for (const double length : {0.985, 1.015}) CHECK_THAT(warning_of(length), Contains("1.5%"));
  for (const double length : {0.995, 1.005}) CHECK(warning_of(length).empty());
}

TEST_CASE("several resolutions together: a word about that, whatever the two rules say") {
  const auto warning_of = [](const std::vector<int>& types, const MassSummary& of) {
    return mean_separation(matter_of(small_box(), types), of).warning;
  };
  const MassSummary mixed{1000, 0.3, 0.1, 0.8};  // that fill the box
  CHECK_THAT(warning_of({1, 2}, mixed), StartsWith("The masses") && Contains("from 0.1 to 0.8"));
  CHECK_THAT(warning_of({1}, mixed), StartsWith("The masses") && Contains("is taken (automatic"));
  CHECK(warning_of({1, 2}, {1000, 0.3, 0.25, 0.35}).empty());
  CHECK(warning_of({0, 1}, mixed).empty());  // gas and dark matter
  const auto both = warning_of({1, 2}, {10, 0.3, 0.1, 0.8});
  CHECK_THAT(both, Contains("differ") && Contains("from 0.1 to 0.8"));
}

TEST_CASE("what cannot be had is explained") {
  SnapshotInfo info = small_box();
  info.box_length.reset();
  CHECK_THROWS_WITH(
      mean_separation(matter_of(info, {1}), masses(0.3), {MeanSeparationRule::volume, 0}),
      Contains("box size"));
  info = small_box();
  info.cosmology = {};
  info.cosmology.critical_density_source = "the run is not cosmological";
  CHECK_THROWS_WITH(
      mean_separation(matter_of(info, {1}), masses(0.3), {MeanSeparationRule::density, 0}),
      Contains("not cosmological"));
  CHECK(mean_separation(matter_of(info, {1}), masses(0.3)).chosen == Approx(1));
  info.types[0].count = 5;
  CHECK_THROWS_AS(mean_separation(matter_of(info, {1}), masses(0.3)), InputError);
  CHECK(
      mean_separation(matter_of(info, {1}), masses(0.3), {MeanSeparationRule::given, 0.7}).chosen ==
      0.7);
}

TEST_CASE("a rule that is no enumerator") {
  const auto rule = static_cast<MeanSeparationRule>(4);
  CHECK_THROWS_WITH(mean_separation(matter_of(small_box(), {1}), masses(0.3), {rule, 0}),
                    Contains("no enumerator"));
}

TEST_CASE("a mean separation that is no length is refused, and no volume is none") {
  MatterContent matter = matter_of(small_box(), {1});
  for (const double value : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH(mean_separation(matter, masses(0.3), {MeanSeparationRule::given, value}),
                      Contains("must be positive"));
  matter.volume = 0;
  CHECK_THROWS_WITH(mean_separation(matter, masses(0.3), {MeanSeparationRule::volume, 0}),
                    Contains("box size"));
  CHECK_THAT(mean_separation(matter, masses(0.3)).how, Contains("is unknown"));
}

TEST_CASE("a critical density that is not positive is none") {
  MatterContent matter = matter_of(small_box(), {1});
  for (const double density : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    matter.critical_density = density;
    matter.has_gas = false;
    CHECK_THROWS_WITH(mean_separation(matter, masses(0.3), {MeanSeparationRule::density, 0}),
                      Contains("the critical density is not positive"));
    const MeanSeparation separation = mean_separation(matter, masses(0.3));
    CHECK(separation.chosen == Approx(1));
    CHECK_FALSE(separation.from_density.has_value());
    CHECK(separation.warning.empty());
    CHECK_THAT(separation.how, Contains("since the density cannot be had"));
    matter.has_gas = true;
    CHECK_THROWS_WITH(mean_separation(matter, masses(0.3)),
                      Contains("the critical density is not positive"));
  }
}

TEST_CASE("how the user writes it") {
  CHECK(parse_mean_separation("auto").rule == MeanSeparationRule::automatic);
  CHECK(parse_mean_separation("rho").rule == MeanSeparationRule::density);
  CHECK(parse_mean_separation("volume").rule == MeanSeparationRule::volume);
  CHECK(parse_mean_separation("0.78125").rule == MeanSeparationRule::given);
  CHECK(parse_mean_separation("7.8e-1").value == 0.78);
  for (const char* wrong : {"", "density", "0", "-1", "nan", "inf", "1 Mpc", "1,5"}) {
    CHECK_THROWS_AS(parse_mean_separation(wrong), InputError);
  }
}
