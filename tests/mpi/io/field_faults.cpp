/// What goes wrong on one rank while all write a field to shared files, in turns or at once: the
/// same error on all, and nothing left.
#include <sys/mount.h>

#include <memory>
#include <numeric>

#include "src/io/hdf5/output.hpp"
#include "tests/mpi/io/faults.hpp"
#include "tests/mpi/io/invented.hpp"
#include "zhalo/io/field_file.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace faults;

namespace {

/// 9 planes of 4 KiB, whose numbers begin at `start` on each rank, into the folder "new".
void write_planes(const Context& context, const std::string& out, Index num_files,
                  float start = 0) {
  const Decomposition slabs({{{9, 32, 32}}, Box::periodic_cube(1)}, context.comm.size(),
                            {.shape = {context.comm.size(), 1}});
  Field<float> field(context, slabs, {});
  std::iota(field.span().begin(), field.span().end(), start);
  FieldRecord record;
  record.name = "f";
  record.files = {.num_files = num_files, .master = true};
  StagedFiles files(context.comm, out + "/new");
  write_field(files, context, field, record, invented::snapshot_of(invented::World()));
  files.commit();
}

}  // namespace

TEST_CASE(
    "one rank's exception at any collective operation of a field's file is everybody's, and "
    "nothing is left") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch_folder(comm, "any_collective");
  for (const Index num_files : {1, 2}) {
    INFO(num_files << " files");
    check_faults_at_all_collectives(
        comm, out, [&](const Context& faulty) { write_planes(faulty, out, num_files); });
  }
}

TEST_CASE("a rank that cannot write its planes stops all, or others write them for it") {
  const Context context{Communicator(MPI_COMM_WORLD)};
  const Communicator& comm = context.comm;
  const std::string out = scratch_folder(comm, "cannot_write");
  write_planes(context, out, 1, 7);
  const std::string earlier = bytes_of(out + "/new/f.hdf5");
  for (int culprit = 0; culprit < comm.size(); ++culprit) {
    for (const rlim_t bytes : {rlim_t{1}, rlim_t{9000}}) {
      // MPI-IO has small files of its own, and waits for ever where one rank cannot write these.
      if (bytes == 1 && culprit > 0 && hdf5::can_write_at_once()) continue;
      INFO("culprit " << culprit << ", bytes " << bytes);
      if (comm.rank() == culprit) fail_one_write_beyond(bytes);
      const std::string message = message_of([&] { write_planes(context, out, 1, 7); });
      lift_limit(0);
      check_same_on_all(comm, message, "");
      if (message != "none" || !hdf5::can_write_at_once())
        check_same_on_all(comm, message, out + "/new/f.hdf5' cannot be written");
      comm.barrier();
      CHECK(entries_below(out) == 2);
      CHECK((bytes_of(out + "/new/f.hdf5") == earlier));
      comm.barrier();
    }
  }
}

TEST_CASE("a field on a full disk") {
  const Context context{Communicator(MPI_COMM_WORLD)};
  const Communicator& comm = context.comm;
  const std::string out = scratch_folder(comm, "full_disk");
  // All ranks see it, and it does not stay, however the test ends.
  const auto unmount = [](const std::string* path) { ::umount2(path->c_str(), MNT_DETACH); };
  std::unique_ptr<const std::string, decltype(unmount)> mounted(nullptr, unmount);
  if (comm.rank() == 0 && ::mount("tmpfs", out.c_str(), "tmpfs", 0, "size=24k") == 0)
    mounted.reset(&out);
  if (comm.sum(Index{mounted != nullptr ? 1 : 0}) == 0) {
    WARN("skipped: a small disk cannot be mounted here");
    return;
  }
  for (const Index num_files : {1, 2}) {
    const std::string message = message_of([&] { write_planes(context, out, num_files); });
    check_same_on_all(comm, message, "No space left on device");
    check_same_on_all(comm, message, "FileError");
    comm.barrier();
    CHECK(entries_below(out) == 0);
    comm.barrier();
  }
}
