#include "tests/unit/io/source.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/load.hpp"
#include "zhalo/io/snapshot.hpp"

using namespace zhalo;
using namespace zhalo::io;
using Catch::Contains;

namespace {

std::string bad(const std::string& path) { return source::snapshots + "/bad/" + path; }

/// What the user is told; fails if nothing is wrong. The file that is at fault must be named.
template <class Expected>
std::string complaint(const std::string& path, const std::string& culprit) {
  try {
    check_types(Snapshot::open(path).info(), {1});
  } catch (const Expected& error) {
    const std::string message = error.what();
    CHECK_THAT(message, Contains(culprit));
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  FAIL("no error for " << path);
  return {};
}

template <class Expected>
std::string complaint(const std::string& name) {
  return complaint<Expected>(bad(name), bad(name));
}

}  // namespace

TEST_CASE("files that cannot be opened") {
  CHECK_THAT(complaint<FileError>("nothing_here"), Contains("no such file"));
  CHECK_THAT(complaint<FileError>("text.hdf5"), Contains("not an HDF5 file"));
  CHECK_THAT(complaint<FileError>("empty.hdf5"), Contains("empty"));
  CHECK_THAT(complaint<FileError>("gadget_binary.hdf5"), Contains("binary format"));
  CHECK_THAT(complaint<FileError>("truncated.hdf5"), Contains("truncated"));
  CHECK_THAT(complaint<FileError>("no_snapshot"), Contains("holds no snapshot"));
}

TEST_CASE("sets of files that are not whole") {
  CHECK_THAT(complaint<FileError>(bad("missing_chunk"), bad("missing_chunk/snapshot_001.1.hdf5")),
             Contains("missing"));
  CHECK_THAT(
      complaint<InputError>(bad("other_snapshot"), bad("other_snapshot/snapshot_001.2.hdf5")),
      Contains("another snapshot"));
  CHECK_THAT(complaint<InputError>(bad("total_differs"), "snapshot_001.0.hdf5"),
             Contains("1005") && Contains("1000"));
  CHECK_THAT(complaint<FileError>("no_number.hdf5"), Contains("no_number.0.hdf5"));
  CHECK_THAT(complaint<InputError>("two_snapshots"), Contains("snapshot_001, snapshot_002"));
  CHECK_THAT(complaint<FileError>(bad("missing_source/snap_0001.hdf5"), "snap_0001.1.hdf5"),
             Contains("virtual"));
}

TEST_CASE("contents that contradict themselves") {
  CHECK_THAT(complaint<InputError>("count_differs.hdf5"), Contains("1010") && Contains("1000"));
  CHECK_THAT(complaint<InputError>("high_word_differs.hdf5"),
             Contains("says 4294968296 particles") && Contains("hold 1000"));
  CHECK_THAT(complaint<InputError>("short_velocities.hdf5"),
             Contains("PartType1/Velocities") && Contains("999"));
  CHECK_THAT(complaint<InputError>("no_coordinates.hdf5"), Contains("Coordinates"));
  CHECK_THAT(complaint<InputError>("two_columns.hdf5"),
             Contains("(1000, 2)") && Contains("(N, 3)"));
  CHECK_THAT(complaint<InputError>("text_coordinates.hdf5"), Contains("PartType1/Coordinates"));
  CHECK_THAT(complaint<InputError>("no_group.hdf5"), Contains("no /PartType1"));
  CHECK_THAT(complaint<InputError>("no_header.hdf5"), Contains("/Header"));
  CHECK_THAT(complaint<InputError>("no_counts.hdf5"), Contains("NumPart_ThisFile"));
}

TEST_CASE("other products are not snapshots") {
  CHECK_THAT(complaint<InputError>("catalogue.hdf5"), Contains("catalogue"));
  for (const char* name : {"/gadget4-dm64/fof_tab_001.hdf5", "/swift-dm64/fof_output_0000.hdf5"}) {
    CHECK_THAT(complaint<InputError>(source::data + name, name), Contains("catalogue"));
  }
}

TEST_CASE("what is missing is said when it is needed") {
  const auto no_box = Snapshot::open(bad("no_box.hdf5")).info();
  CHECK_FALSE(no_box.box_length);
  CHECK_THROWS_WITH(simulation_box(no_box, Periodicity::yes), Contains("box size"));

  const Snapshot no_masses = Snapshot::open(bad("no_masses.hdf5"));
  CHECK(no_masses.info().types[1].mass_source == "none");
  CHECK_THROWS_WITH(load_particles<float>({}, no_masses, {1}),
                    Contains("no masses of particle type 1"));
}

TEST_CASE("types that are not there") {
  const auto info = Snapshot::open(source::good("arepo/snapdir_001")).info();
  CHECK_THROWS_WITH(check_types(info, {}), Contains("at least one"));
  CHECK_THROWS_WITH(check_types(info, {1, 1}), Contains("twice"));
  CHECK_THROWS_WITH(check_types(info, {4}),
                    Contains("no particles of type 4") && Contains("types 1, 3"));
  CHECK_THROWS_WITH(check_types(info, {17}), Contains("type 17"));
  CHECK_THROWS_WITH(check_types(info, {-1}), Contains("type -1"));
  CHECK_THROWS_WITH(check_types(info, {3}), Contains("no Coordinates of particle type 3"));
  CHECK_NOTHROW(check_types(info, {1}));
}

TEST_CASE("ranges beyond the end") {
  const Snapshot snapshot = Snapshot::open(source::good("split"));
  std::vector<double> xyz(6);
  CHECK_NOTHROW(snapshot.read_positions(1, source::num - 2, Span<double>(xyz)));
  CHECK_THROWS_AS(snapshot.read_positions(1, source::num - 1, Span<double>(xyz)), InputError);
  CHECK_THROWS_AS(snapshot.read_positions(1, -1, Span<double>(xyz)), InputError);
  CHECK_THROWS_AS(snapshot.read_positions(9, 0, Span<double>(xyz)), InputError);
  CHECK(snapshot.info().types[1].uniform_mass);
  CHECK_NOTHROW(snapshot.read_masses(1, source::num - 6, Span<double>(xyz)));
  CHECK_THROWS_AS(snapshot.read_masses(1, source::num - 5, Span<double>(xyz)), InputError);
  CHECK_THROWS_AS(snapshot.read_masses(1, -1, Span<double>(xyz)), InputError);
  CHECK_THROWS_AS(snapshot.read_masses(9, 0, Span<double>(xyz)), InputError);
}
