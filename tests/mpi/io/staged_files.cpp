#include "zhalo/io/staged_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/mpi/io/scratch.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;
namespace fs = std::filesystem;

namespace {

/// An empty folder for this number of ranks; collective.
void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Index entries_below(const std::string& directory) {
  Index entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(directory)) ++entries;
  return entries;
}

/// One file per rank, staged.
std::string stage_table(StagedFiles& files, const std::string& prefix = "table") {
  files.claim_numbered(prefix, files.comm().size());
  return files.stage(prefix + "." + std::to_string(files.comm().rank()) + ".hdf5");
}

}  // namespace

TEST_CASE("files appear at the commit, not before") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "commit");
  StagedFiles files(comm, folder + "/new/deep");
  files.make_directory("inside");
  const std::string temporary = stage_table(files, "inside/table");
  write(temporary, "whole " + std::to_string(comm.rank()));
  const std::string final_path =
      folder + "/new/deep/inside/table." + std::to_string(comm.rank()) + ".hdf5";
  CHECK_FALSE(fs::exists(final_path));
  CHECK(fs::path(temporary).parent_path() ==
        fs::path(final_path).parent_path());  // a rename, not a copy
  CHECK(files.commit() == std::vector<std::string>{final_path});
  CHECK(read(final_path) == "whole " + std::to_string(comm.rank()));
  CHECK_FALSE(fs::exists(temporary));
}

TEST_CASE("without a commit nothing is left, and what was there stays") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "no_commit");
  if (comm.rank() == 0) write(folder + "/table.0.hdf5", "old");
  comm.barrier();
  {
    StagedFiles files(comm, folder);
    files.make_directory("fresh");
    write(stage_table(files), "new");
    write(stage_table(files, "fresh/table"), "new");
    comm.barrier();
  }
  comm.barrier();
  CHECK(entries_below(folder) == 1);
  CHECK(read(folder + "/table.0.hdf5") == "old");
}

TEST_CASE("a run that fails takes its folder from no other run that writes there later") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "folder_of_another");
  std::optional<StagedFiles> failing(std::in_place, comm, folder + "/new/deep");
  StagedFiles empty(comm, folder + "/new/deep");
  {
    StagedFiles also_failing(comm, folder + "/new/deep");
    StagedFiles files(comm, folder + "/new/deep");
    failing.reset();
    comm.barrier();
    CHECK(entries_below(folder) == 0);
    comm.barrier();
    write(stage_table(also_failing, "other"), "new");
    write(stage_table(files), "new");
    CHECK(read(files.commit().at(0)) == "new");
  }
  comm.barrier();
  CHECK(entries_below(folder) == comm.size() + 2);
  comm.barrier();
  if (comm.rank() == 0) fs::remove_all(folder + "/new");
  comm.barrier();
  CHECK(empty.commit().empty());
}

TEST_CASE("a rank whose file is missing stops all") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "one_fails");
  {
    StagedFiles files(comm, folder);
    const std::string temporary = stage_table(files);
    if (comm.rank() != comm.size() - 1) write(temporary, "new");
    CHECK_THROWS_AS(files.commit(), FileError);
  }
  comm.barrier();
  CHECK(entries_below(folder) == 0);
}

TEST_CASE("a path that is taken undoes what was renamed") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "taken");
  const std::string last = "table." + std::to_string(comm.size() - 1) + ".hdf5";
  if (comm.rank() == 0) fs::create_directories(fs::path(folder) / last / "full");
  comm.barrier();
  {
    StagedFiles files(comm, folder);
    write(stage_table(files), "new");
    CHECK_THROWS_AS(files.commit(), FileError);
  }
  comm.barrier();
  CHECK(entries_below(folder) == 2);  // the directory that is in the way, and what is in it
}

TEST_CASE("a commit that fails on one rank brings back what was there on all") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "brought_back");
  const auto path = [&](int number) {
    return folder + "/table." + std::to_string(number) + ".hdf5";
  };
  const int last = comm.size() - 1;
  if (comm.rank() == 0) {
    for (int number = 0; number < comm.size() + 3; ++number) {
      if (number != last) write(path(number), "old " + std::to_string(number));
    }
    fs::create_directories(fs::path(path(last)) / "full");  // is in the way of the last rank's file
    for (const char* name : {"/table.hdf5", "/other.0.hdf5", "/mine"}) write(folder + name, "old");
  }
  comm.barrier();
  const Index before = entries_below(folder);
  comm.barrier();
  {
    StagedFiles files(comm, folder);
    if (comm.rank() == 0) write(files.stage("mine"), "new");
    write(stage_table(files), "new");
    files.claim_numbered("other", 0);
    files.retire("table.hdf5");
    CHECK_THROWS_WITH(files.commit(), Catch::Contains(path(last)));
  }
  comm.barrier();
  CHECK(entries_below(folder) == before);
  for (int number = 0; number < comm.size() + 3; ++number) {
    if (number != last) CHECK(read(path(number)) == "old " + std::to_string(number));
  }
  for (const char* name : {"/table.hdf5", "/other.0.hdf5", "/mine"})
    CHECK(read(folder + name) == "old");
}

TEST_CASE("no new file is seen while another rank still has to take an old one away") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "steps");
  const int last = comm.size() - 1;
  const std::string first_path = folder + "/table.0.hdf5",
                    last_path = folder + "/table." + std::to_string(last) + ".hdf5";
  const std::string own_path = folder + "/table." + std::to_string(comm.rank()) + ".hdf5",
                    master_path = folder + "/table.hdf5";
  const auto others = [](int number) { return "other." + std::to_string(number) + ".hdf5"; };
  constexpr int num_others = 300;  // so that the last rank needs long to reach its table
  write(own_path, "old");
  if (comm.rank() == 0) write(master_path, "old");
  comm.barrier();
  StagedFiles files(comm, folder);
  if (comm.rank() == last) {
    for (int number = 0; number < num_others; ++number) write(files.stage(others(number)), "new");
  }
  write(stage_table(files), "new");
  if (comm.rank() == 0) write(files.stage("table.hdf5", StagedFiles::Appears::last), "new");
  std::atomic<bool> done{false};
  int mixed = 0, early = 0;
  std::thread watcher([&] {
    // What is seen second was there when the first was, too: an old file never comes back, a new
    // one never goes.
    while (!done) {
      if (read(first_path) == "new" && read(last_path) == "old") ++mixed;
      if (read(master_path) == "old" && !fs::exists(last_path) && read(master_path) == "old")
        ++early;
      if (read(master_path) == "new" && !fs::exists(last_path)) ++early;
    }
  });
  files.commit();
  done = true;
  watcher.join();
  CHECK(mixed == 0);
  CHECK(early == 0);
  CHECK(read(own_path) == "new");
  comm.barrier();
  CHECK(entries_below(folder) == num_others + comm.size() + 1);
}

/// A commit of `files` while another run has the folder for a moment.
void commit_beside_another_run(StagedFiles& files, const std::string& folder) {
  const Communicator& comm = files.comm();
  write(stage_table(files), "new");
  std::atomic<bool> released = false;
  std::thread other;
  if (comm.rank() == 0) {
    const int lock = ::open((folder + "/.zhalo-lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    REQUIRE(::flock(lock, LOCK_EX) == 0);
    other = std::thread([&released, lock] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      released = true;
      ::close(lock);
    });
  }
  comm.barrier();
  const auto paths = files.commit();
  if (comm.rank() == 0) {
    CHECK(released);
    other.join();
  }
  CHECK(read(paths.at(0)) == "new");
  comm.barrier();
  CHECK_FALSE(fs::exists(folder + "/.zhalo-lock"));
  comm.barrier();
}

TEST_CASE("a commit waits while another run replaces files in the same folder") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "lock");
  StagedFiles files(comm, folder);
  commit_beside_another_run(files, folder);
  commit_beside_another_run(files, folder);  // a code may keep one object for all snapshots
  { const CommitLocks given_up({&files}); }
  commit_beside_another_run(files, folder);
}

TEST_CASE("commits that belong together wait for all folders at once") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "locks");
  StagedFiles first(comm, folder + "/a"), second(comm, folder + "/b/../b");
  write(stage_table(first), "new");
  write(stage_table(second), "new");
  comm.barrier();
  const int lock = comm.rank() == 0 ? ::open((folder + "/b/.zhalo-lock").c_str(),
                                             O_RDWR | O_CREAT | O_CLOEXEC, 0444)
                                    : -1;
  if (comm.rank() == 0) REQUIRE(::flock(lock, LOCK_EX) == 0);
  int times = 0;
  {
    const CommitLocks locks({&first, &second}, [&] {
      // The other run has b: meanwhile nobody else is kept from a.
      if (++times < 3) return;
      if (comm.rank() == 0 && times == 3) {
        CHECK_FALSE(fs::exists(folder + "/a/.zhalo-lock"));
        ::close(lock);
      }
    });
    CHECK(times == 3);
    comm.barrier();
    CHECK(fs::exists(folder + "/a/.zhalo-lock"));
    CHECK(fs::exists(folder + "/b/.zhalo-lock"));
    comm.barrier();
    CHECK(read(first.commit().at(0)) == "new");
    CHECK(read(second.commit().at(0)) == "new");
  }
  comm.barrier();
  CHECK_FALSE(fs::exists(folder + "/a/.zhalo-lock"));
  CHECK_FALSE(fs::exists(folder + "/b/.zhalo-lock"));
  CHECK_THROWS_AS(CommitLocks({&first}, [] { throw InputError("stopped"); }), InputError);
}

TEST_CASE("a file of several ranks: one stages it, the others join") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "shared");
  StagedFiles files(comm, folder);
  files.claim_numbered("table", 1);
  const std::string temporary =
      comm.rank() == 0 ? files.stage("table.0.hdf5") : files.join("table.0.hdf5");
  CHECK(temporary == comm.broadcast(temporary));
  for (int turn = 0; turn < comm.size(); ++turn) {
    if (turn == comm.rank()) std::ofstream(temporary, std::ios::app) << turn;
    comm.barrier();
  }
  CHECK(files.commit() == (comm.rank() == 0 ? std::vector<std::string>{folder + "/table.0.hdf5"}
                                            : std::vector<std::string>{}));
  // Rank 0 takes its lock away after the others have left commit().
  comm.barrier();
  CHECK(entries_below(folder) == 1);
  CHECK(read(folder + "/table.0.hdf5") ==
        std::string("01234567").substr(0, static_cast<std::size_t>(comm.size())));
}

TEST_CASE("leftovers go by the number of files, not of ranks, also behind gaps") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "claimed");
  if (comm.rank() == 0) {
    for (const char* name : {"0", "1", "2", "3", "7", "12"})
      write(folder + "/table." + name + ".hdf5", "old");
    for (const char* name :
         {"table.07.hdf5", "table.x.hdf5", "table.4.hdf5.bak", "tables.4.hdf5", "table..hdf5"}) {
      write(folder + "/" + name, "not ours");
    }
    write(folder + "/table.hdf5", "retired");
  }
  comm.barrier();
  StagedFiles files(comm, folder);
  files.claim_numbered("table", 2);
  files.retire("table.hdf5");
  files.retire("never there");
  if (comm.rank() == 0) {
    for (const char* name : {"table.0.hdf5", "table.1.hdf5"}) write(files.stage(name), "new");
  }
  files.commit();
  comm.barrier();
  CHECK(entries_below(folder) == 2 + 5);
  CHECK(read(folder + "/table.1.hdf5") == "new");
}

TEST_CASE("numbers beyond the last rank, from an earlier run, go") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "leftovers");
  if (comm.rank() == 0) {
    for (int number = 0; number < 6; ++number)
      write(folder + "/table." + std::to_string(number) + ".hdf5", "old");
    write(folder + "/table.txt", "not ours");
  }
  comm.barrier();
  StagedFiles files(comm, folder);
  write(stage_table(files), "new");
  files.commit();
  comm.barrier();
  CHECK(entries_below(folder) == comm.size() + 1);
}

TEST_CASE("files of a retired prefix go at the commit, not before") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "retired");
  if (comm.rank() == 0) {
    for (int number = 0; number < 3; ++number)
      write(folder + "/old." + std::to_string(number) + ".hdf5", "old");
    write(folder + "/older.0.hdf5", "not ours");
  }
  comm.barrier();
  {
    StagedFiles files(comm, folder);
    files.claim_numbered("old", 0);
  }
  comm.barrier();
  CHECK(entries_below(folder) == 4);
  StagedFiles files(comm, folder);
  files.claim_numbered("old", 0);
  files.commit();
  comm.barrier();
  CHECK(entries_below(folder) == 1);
}

TEST_CASE("what another process of the same number has left in a directory does not matter") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "other_container");
  const std::string rank = std::to_string(comm.rank());
  write(folder + "/.zhalo-probe." + std::to_string(::getpid()) + "." + rank, "");
  comm.barrier();
  StagedFiles files(comm, folder);
  write(stage_table(files), "new");
  CHECK(read(files.commit().at(0)) == "new");
}
