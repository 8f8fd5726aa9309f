#include "zhalo/io/load.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "src/io/snapshot/column_reading.hpp"
#include "tests/mpi/io/scratch.hpp"
#include "tests/unit/io/source.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;

namespace {

Context world() { return {.comm = Communicator(MPI_COMM_WORLD)}; }

}  // namespace

TEST_CASE("each rank gets its share, in the order of the files") {
  const Context context = world();
  const auto loaded = load_particles<float>(context, Snapshot::open(source::good("split")), {1});
  const Share share = share_of(source::num, context.comm.rank(), context.comm.size());
  REQUIRE(loaded.particles.num() == share.count);
  REQUIRE(loaded.id.size() == share.count);
  REQUIRE(loaded.particles.segments.size() == 1);
  const auto& segment = loaded.particles.segments[0];
  const auto position = source::positions(), velocity = source::velocities();
  const auto id = source::ids();
  bool same = true;
  for (Index i = 0; i < share.count; ++i) {
    const auto row = static_cast<std::size_t>(share.first + i);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      same = same && segment.pos[axis][i] == position[3 * row + axis] &&
             segment.velocity[axis][i] == double{velocity[3 * row + axis]};
    }
    same = same && loaded.id.data()[i] == id[row] &&
           segment.mass[i] == Approx(source::particle_mass) && segment.type[i] == 1;
  }
  CHECK(same);
}

TEST_CASE("velocities arrive as peculiar ones") {
  const Snapshot snapshot = Snapshot::open(source::data + "/gadget4-dm64/snapshot_000.hdf5");
  const Context context = world();
  const auto loaded = load_particles<float>(context, snapshot, {1});
  const Share share = share_of(source::num, context.comm.rank(), context.comm.size());
  std::vector<double> stored(3);
  snapshot.read_velocities(1, share.first, Span<double>(stored));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    CHECK(loaded.particles.segments[0].velocity[axis][0] ==
          Approx(stored[axis] * std::sqrt(0.4945390874327027)).epsilon(1e-6));
  }
}

TEST_CASE("positions in redshift space are moved by the particles' own velocities") {
  const Context context = world();
  for (const char* name : {"split", "eagle/snapshot_001_z000p000"}) {
    const Snapshot snapshot = Snapshot::open(source::good(name));
    const bool has_stars = snapshot.info().types.size() > 4 && snapshot.info().types[4].count > 0;
    const std::vector<int> types = has_stars ? std::vector{4, 1} : std::vector{1};
    const auto still = load_particles<double>(context, snapshot, types);
    for (int axis = 0; axis < 3; ++axis) {
      const RedshiftSpace space = redshift_space(snapshot.info(), axis);
      const double side = space.side.value();
      const auto moved =
          load_particles<double>(context, snapshot, types, {.redshift_space = space});
      REQUIRE(moved.particles.segments.size() == still.particles.segments.size());
      double largest = 0, furthest = 0;
      for (std::size_t s = 0; s < still.particles.segments.size(); ++s) {
        const auto &from = still.particles.segments[s], &to = moved.particles.segments[s];
        REQUIRE(to.num == from.num);
        for (Index i = 0; i < from.num; ++i) {
          for (std::size_t along = 0; along < 3; ++along) {
            const bool is_moved = along == static_cast<std::size_t>(axis);
            const double by = is_moved ? from.velocity[along][i] * space.length_per_velocity : 0;
            const double apart = to.pos[along][i] - from.pos[along][i] - by;
            largest = std::max(largest, std::abs(apart - side * std::round(apart / side)));
            furthest = std::max(furthest, std::abs(by));
          }
        }
      }
      CHECK(largest < 1e-9 * side);
      CHECK(context.comm.max(furthest) > 1e-3 * side);
    }
  }
}

TEST_CASE("a share that is too large for a rank") {
  const Snapshot snapshot =
      Snapshot::open(source::snapshots + "/huge/with_high_word_004.hdf5");  // 2^32 + 5
  CHECK_THROWS_WITH(load_particles<float>({}, snapshot, {1}),
                    Catch::Contains("4294967301 of its 4294967301 particles are for one rank"));
}

TEST_CASE("several types: one type after the other, each with its own masses") {
  const Context context = world();
  const auto loaded = load_particles<double>(
      context, Snapshot::open(source::good("eagle/snapshot_001_z000p000")), {4, 1});
  CHECK(context.comm.sum(loaded.particles.num()) == source::num + 5);
  Index num_stars = 0, num_dark = 0;
  double mass = 0;
  for (std::size_t i = 0; i < loaded.ranges.size(); ++i) {
    const auto& segment = loaded.particles.segments[i];
    const TypeRange range = loaded.ranges[i];
    REQUIRE(segment.num == range.count);
    (range.type == 4 ? num_stars : num_dark) += range.count;
    for (Index row = 0; row < segment.num; ++row) mass += segment.mass[row];
    CHECK(segment.type[segment.num - 1] == range.type);
    CHECK(segment.type[0] == range.type);
    if (i > 0) CHECK(loaded.ranges[i - 1].type < range.type);
  }
  CHECK(context.comm.sum(num_stars) == 5);
  CHECK(context.comm.sum(num_dark) == source::num);
  CHECK(context.comm.sum(mass) ==
        Approx(source::num * source::particle_mass + 5 * double{0.1f}).epsilon(1e-9));
}

TEST_CASE("columns that are read in the background are the same") {
  const Context context = world();
  const Snapshot snapshot = Snapshot::open(source::good("eagle/snapshot_001_z000p000"));
  const std::vector<int> types{1, 4};
  const auto expected = load_particles<double>(context, snapshot, types);
  auto loaded = load_particles<double>(context, snapshot, types, {.in_background = true});
  REQUIRE(loaded.particles.num() == expected.particles.num());
  loaded.wait_for_columns(context);
  bool same = loaded.has_velocities && loaded.has_ids;
  for (std::size_t i = 0; i < loaded.particles.segments.size(); ++i) {
    const auto& a = loaded.particles.segments[i];
    const auto& b = expected.particles.segments[i];
    for (Index row = 0; row < b.num; ++row) {
      same = same && a.mass[row] == b.mass[row] && a.type[row] == b.type[row];
      for (std::size_t axis = 0; axis < 3; ++axis)
        same = same && a.pos[axis][row] == b.pos[axis][row] &&
               a.velocity[axis][row] == b.velocity[axis][row];
    }
  }
  CHECK(same);
  CHECK(to_host(context.exec, loaded.id) == to_host(context.exec, expected.id));
  loaded.wait_for_columns(context);  // a second time: nothing is left to do
}

TEST_CASE("what reading in the background throws on one rank reaches all") {
  const Context context = world();
  LoadedParticles<float> loaded;
  loaded.reading = std::make_shared<ColumnReading>(ColumnReading::When::in_background);
  const bool last = context.comm.rank() == context.comm.size() - 1;
  loaded.id = loaded.reading->add<std::uint64_t>(context.exec, {10, 1}, "ids",
                                                 [&](Index, Span<std::uint64_t>) {
                                                   if (last) throw FileError("the disk is broken");
                                                 });
  loaded.reading->start();
  CHECK_THROWS_WITH(loaded.wait_for_columns(context), Catch::Contains("the disk is broken"));
}

TEST_CASE("columns that are being read are given back when reading has ended, also by a move") {
  const Context context = world();
  const auto bytes_in_use = [&] { return memory(context.exec)->bytes_in_use(); };
  LoadedParticles<float> loaded;
  loaded.reading = std::make_shared<ColumnReading>(ColumnReading::When::in_background);
  std::promise<void> begun, go_on;
  std::size_t in_use = 0;
  const auto read = [&](Index, Span<std::uint64_t>) {
    begun.set_value();
    go_on.get_future().wait();
    in_use = bytes_in_use();
  };
  loaded.id = loaded.reading->add<std::uint64_t>(context.exec, {10, 1}, "ids", read);
  const std::size_t while_reading = bytes_in_use();
  loaded.reading->start();
  begun.get_future().wait();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the move is under way
    go_on.set_value();
  });
  loaded = LoadedParticles<float>();
  CHECK(in_use == while_reading);
  CHECK(bytes_in_use() < while_reading);
  CHECK(loaded.reading == nullptr);
  other.join();
}

TEST_CASE("an error of one rank reaches all") {
  CHECK_THROWS_AS(load_particles<float>(world(), Snapshot::open(source::good("split")), {0}),
                  InputError);
}

TEST_CASE("a type that only one rank asks for in vain stops all") {
  const Context context = world();
  const Snapshot snapshot = Snapshot::open(source::good("split"));
  const bool odd_one = context.comm.rank() == context.comm.size() - 1;
  std::string message;
  try {
    summarise_masses(context.comm, snapshot, {odd_one ? 99 : 1});
  } catch (const InputError& error) {
    message = error.what();
  }
  CHECK_THAT(message, Catch::Contains("type 99"));
  CHECK(message == context.comm.broadcast(message));
}

TEST_CASE("ids that are not loaded are absent on all ranks, also on those without particles") {
  const Snapshot snapshot = Snapshot::open(source::good("eagle/snapshot_001_z000p000"));
  CHECK(load_particles<float>(world(), snapshot, {4}).has_ids);
  CHECK_FALSE(load_particles<float>(world(), snapshot, {4}, {.ids = false}).has_ids);
}

TEST_CASE("the mean mass is the same bit for bit on any number of ranks") {
  const Snapshot snapshot = Snapshot::open(source::snapshots + "/unequal/snapshot_002");
  const MassSummary alone = summarise_masses(Communicator(), snapshot, {1});
  const MassSummary shared = summarise_masses(world().comm, snapshot, {1});
  CHECK(alone.mean == shared.mean);
  CHECK(alone.count == 100001);
  CHECK(shared.min == 0);

  const auto masses = source::raw<float>("masses.f32");
  long double sum = 0;
  for (const float mass : masses) sum += static_cast<long double>(mass);
  CHECK(shared.mean == Approx(static_cast<double>(sum / masses.size())).epsilon(1e-15));
  CHECK(shared.max == double{*std::max_element(masses.begin(), masses.end())});
  CHECK_FALSE(shared.equal());
}

TEST_CASE("equal masses have that mass as mean, exactly") {
  const MassSummary real =
      summarise_masses(world().comm, Snapshot::open(source::data + "/swift-dm64/snap_0000"), {1});
  CHECK(real.mean == 6.010562419891357);
  CHECK(real.equal());
  const MassSummary table =
      summarise_masses(world().comm, Snapshot::open(source::good("split")), {1});
  CHECK(table.min == table.max);
  CHECK(table.mean == table.max);
  CHECK(table.count == source::num);
}

TEST_CASE("each rank looks into some of the files, and all know the same") {
  const Context context = world();
  for (const std::string path : {"split", "arepo/snapdir_001", "eagle/snapshot_001_z000p000"}) {
    const Snapshot alone = Snapshot::open(source::good(path));
    const Snapshot shared = Snapshot::open(context.comm, source::good(path));
    const SnapshotInfo& a = alone.info();
    const SnapshotInfo& b = shared.info();
    CHECK(describe(a) == describe(b));
    CHECK(a.files == b.files);
    CHECK(a.stem == b.stem);
    CHECK(a.number == b.number);
    CHECK(a.box_length == b.box_length);
    CHECK(a.cosmology.omega_matter == b.cosmology.omega_matter);
    CHECK(a.cosmology.critical_density == b.cosmology.critical_density);
    CHECK(a.velocity_factor == b.velocity_factor);
    CHECK(a.notes == b.notes);
    std::vector<double> expected(3), found(3);
    for (int type = 0; type < static_cast<int>(a.types.size()); ++type) {
      const TypeSummary& known = a.types[static_cast<std::size_t>(type)];
      CHECK(known.count == b.types[static_cast<std::size_t>(type)].count);
      CHECK(known.uniform_mass == b.types[static_cast<std::size_t>(type)].uniform_mass);
      if (known.count == 0 || !known.has_coordinates) continue;
      alone.read_positions(type, known.count - 1, Span<double>(expected));
      shared.read_positions(type, known.count - 1, Span<double>(found));
      CHECK(found == expected);
    }
  }
  CHECK_THROWS_AS(Snapshot::open(context.comm, source::good("no_such_snapshot")), FileError);
  CHECK(context.comm.sum(Index{1}) == context.comm.size());
}

TEST_CASE("what is wrong with a file is the same error on all ranks, whichever looks into it") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "damaged_chunk");
  const std::string last = folder + "/snapshot_001.2.hdf5";
  if (comm.rank() == 0) {
    for (const auto& file : std::filesystem::directory_iterator(source::good("split")))
      std::filesystem::copy(file.path(), folder);
    std::filesystem::resize_file(last, std::filesystem::file_size(last) * 2 / 3);
  }
  comm.barrier();
  const std::string other = source::snapshots + "/bad/other_snapshot";
  for (const auto& [path, culprit] :
       {std::pair{folder, last}, std::pair{other, other + "/snapshot_001.2.hdf5"}}) {
    std::string message;
    try {
      Snapshot::open(comm, path);
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK_THAT(message, Catch::Contains(culprit));
    CHECK(message == comm.broadcast(message));
  }
}
