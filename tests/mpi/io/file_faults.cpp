/// What goes wrong on one rank while several write: the same error on all, nothing left, and
/// nothing lost.
#include <catch2/catch.hpp>

#include "tests/mpi/io/faults.hpp"
#include "tests/mpi/io/invented.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace invented;
using namespace faults;

namespace {

void write_even(StagedFiles& files, const World& world, const WriteOptions& options) {
  const Communicator& comm = files.comm();
  const auto share = [&](Index total) { return share_of(total, comm.rank(), comm.size()); };
  const auto ids = member_ids_of(world, share(world.num_members()));
  write_catalogue(files, {table_of(world, share(world.num_groups)), ids}, snapshot_of(world),
                  run_record(), options);
}

}  // namespace

TEST_CASE("a rank that cannot write stops all, whatever its turn") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch_folder(comm, "cannot_write");
  const World world(19, 5, 0);
  for (const Index num_files : {1, 2, 0, 2 * comm.size() + 1}) {
    for (int culprit = 0; culprit < comm.size(); ++culprit) {
      // Beyond 1 byte nothing can be written; beyond 9000 the frame fits and rows do not.
      for (const rlim_t bytes : {rlim_t{1}, rlim_t{9000}}) {
        INFO("files " << num_files << ", culprit " << culprit << ", bytes " << bytes);
        StagedFiles files(comm, out + "/new");
        if (comm.rank() == culprit) fail_one_write_beyond(bytes);
        const std::string message =
            message_of([&] { write_even(files, world, {.num_files = num_files}); });
        lift_limit(0);
        check_same_on_all(comm, message, "File too large");
        check_same_on_all(comm, message, out + "/new/groups_042/fof_subhalo_tab_042.");
        if (comm.size() > 1)
          check_same_on_all(comm, message, "rank " + std::to_string(culprit) + ":");
      }
      comm.barrier();
      CHECK(entries_below(out) == 0);
      comm.barrier();
    }
  }
}

TEST_CASE("files that cannot be written are in no later commit, whatever else is") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch_folder(comm, "later_commit");
  const World world(19, 5, 0);
  const ParticleColumns particles(world, share_of(world.num_particles(), comm.rank(), comm.size()));
  const auto write_particles = [&](StagedFiles& files, const WriteOptions& options) {
    write_membership(files, {particles.ranges, particles.group_of, particles.ids},
                     snapshot_of(world), run_record(), options);
  };
  {
    StagedFiles files(comm, out + "/expected");
    write_even(files, world, {});
    write_particles(files, {.num_files = 2, .master = true});
    files.commit();
  }
  const std::string found = out + "/found";
  StagedFiles files(comm, found);
  write_particles(files, {.num_files = 2, .master = true});
  files.commit();
  write_even(files, world, {});
  if (comm.rank() == comm.size() - 1) fail_one_write_beyond(1);
  const std::string message = message_of([&] { write_particles(files, {.num_files = 1}); });
  lift_limit(0);
  check_same_on_all(comm, message, "File too large");
  files.commit();
  comm.barrier();
  CHECK(entries_below(found) == entries_below(out + "/expected"));
  for (const char* name :
       {"membership_042.hdf5", "membership_042.0.hdf5", "groups_042/fof_subhalo_tab_042.0.hdf5"}) {
    CHECK_FALSE(bytes_of(found + "/" + name).empty());
    CHECK(bytes_of(found + "/" + name) == bytes_of(out + "/expected/" + name));
  }
}

TEST_CASE("rows, ids and particles that do not follow one another are refused on all ranks") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch_folder(comm, "refused");
  const World world;
  const SnapshotInfo snapshot = snapshot_of(world);
  const int last = comm.size() - 1;
  StagedFiles files(comm, out);
  const auto share = [&](Index total) { return share_of(total, comm.rank(), comm.size()); };
  const auto write = [&](const Catalogue& catalogue, Span<const std::uint64_t> ids,
                         const WriteOptions& options) {
    return message_of([&] {
      write_catalogue(files, {catalogue, ids}, snapshot, run_record(), options);
    });
  };
  const Catalogue good = table_of(world, share(world.num_groups));
  Catalogue gap = table_of(world, share(world.num_groups));
  if (comm.rank() == last) gap.first_group += 1;
  check_same_on_all(comm, write(gap, {}, {}), "InputError");
  auto ids = member_ids_of(world, share(world.num_members()));
  if (comm.rank() == last) ids.pop_back();
  check_same_on_all(comm, write(good, ids, {}), "ids for");
  check_same_on_all(comm, write(good, {}, {.num_files = -1}), "-1 files");
  check_same_on_all(comm, write(good, {}, {.num_files = max_files + 1}),
                    "1 to " + std::to_string(max_files));
  if (comm.size() > 1) {
    const bool odd_one = comm.rank() == last;
    check_same_on_all(comm, write(good, {}, {.num_files = odd_one ? -1 : 2}), "-1 to 2 files");
    check_same_on_all(comm, write(good, {}, {.num_files = odd_one ? 1 : comm.size()}),
                      "WriteOptions");
    check_same_on_all(comm, write(good, {}, {.master = odd_one}),
                      "1 of " + std::to_string(comm.size()) + " with a master");
  }

  RunRecord run = run_record();
  const auto write_particles = [&](const ParticleColumns& of, Span<const std::uint64_t> id) {
    return message_of([&] {
      write_membership(files, {of.ranges, of.group_of, id}, snapshot, run);
    });
  };
  ParticleColumns shifted(world, share(world.num_particles()));
  if (comm.rank() == last) shifted.ranges.back().first += 1;
  check_same_on_all(comm, write_particles(shifted, shifted.ids), "do not follow one another");
  const ParticleColumns particles(world, share(world.num_particles()));
  const std::vector<std::uint64_t> one_id{7};
  check_same_on_all(comm, write_particles(particles, comm.rank() == last ? one_id : particles.ids),
                    "ids");
  if (comm.size() > 1) {
    run.linked_types = comm.rank() == last ? std::vector{0, 1, 2, 3, 4, 5} : std::vector{1};
    check_same_on_all(comm, write_particles(particles, particles.ids), "the record of a run");
    const std::string message = message_of([&] {
      write_catalogue(files, {good, {}}, snapshot, run);
    });
    check_same_on_all(comm, message, "the record of a run");
  }
}

TEST_CASE("one rank's exception at any collective operation is everybody's, and nothing is left") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch_folder(comm, "any_collective");
  check_faults_at_all_collectives(comm, out, [&](const Context& context) {
    const Communicator& faulty = context.comm;
    const World world(5, 3, 0);
    StagedFiles files(faulty, out + "/new");
    write_even(files, world, {.num_files = 2, .master = true});
    const ParticleColumns particles(world,
                                    share_of(world.num_particles(), faulty.rank(), faulty.size()));
    write_membership(files, {particles.ranges, particles.group_of, particles.ids},
                     snapshot_of(world), run_record(), {});
    files.commit();
  });
}
