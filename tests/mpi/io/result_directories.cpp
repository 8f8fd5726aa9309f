// Directories of results that are made, and those that cannot be.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/mpi/io/scratch.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/staged_files.hpp"

using namespace zhalo;
using namespace zhalo::io;
namespace fs = std::filesystem;

TEST_CASE("a link that leads nowhere is named as such") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "dead_link");
  const std::string link = folder + "/link";
  if (comm.rank() == 0) fs::create_symlink("none", link);
  comm.barrier();
  for (const char* below : {"", "/below", "/below/../beside"}) {
    CHECK_THROWS_WITH(StagedFiles(comm, link + below),
                      Catch::Contains("'" + link + "' is a link that leads nowhere") &&
                          Catch::Contains("remove the link"));
  }
  comm.barrier();
  CHECK(std::distance(fs::recursive_directory_iterator(folder), {}) == 1);
  comm.barrier();
}

TEST_CASE("no directory is made only to be left again by \"..\"") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "detours");
  if (comm.rank() == 0) {
    fs::create_directories(folder + "/there/deep");
    fs::create_directory_symlink("there/deep", folder + "/link");
  }
  comm.barrier();
  const std::pair<const char*, const char*> cases[] = {
      {"none/../made", "made"},
      {"none/deep/./.././../made/below", "made/below"},
      {"there/../made", "there/../made"},
      {"link/../made", "link/../made"},  // which is there/made
      {"there/none/../made", "there/made"}};
  for (const auto& [given, made] : cases) {
    {
      StagedFiles files(comm, folder + "/" + given);
      CHECK(files.directory() == folder + "/" + made);
      std::ofstream(files.stage(std::to_string(comm.rank()))) << "new";
      CHECK(fs::file_size(files.commit().at(0)) == 3);
    }
    comm.barrier();
    CHECK(fs::is_directory(folder + "/" + made));
    CHECK_FALSE(fs::exists(folder + "/none"));
    CHECK_FALSE(fs::exists(folder + "/there/none"));
    comm.barrier();
  }
}

TEST_CASE("directories that cannot be used are named at once") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string folder = scratch_folder(comm, "unusable");
  if (comm.rank() == 0) std::ofstream(folder + "/file") << "x";
  comm.barrier();
  CHECK_THROWS_WITH(StagedFiles(comm, folder + "/file/below"), Catch::Contains(folder + "/file"));
  CHECK_THROWS_AS(StagedFiles(comm, folder + "/file"), FileError);
  CHECK_THROWS_AS(StagedFiles(comm, "/proc/zhalo"), FileError);
  if (::geteuid() == 0) {
    WARN("root may write everywhere: the test of a read-only directory is skipped");
    return;
  }
  if (comm.rank() == 0) {
    fs::create_directories(folder + "/locked");
    ::chmod((folder + "/locked").c_str(), 0555);
  }
  comm.barrier();
  CHECK_THROWS_WITH(StagedFiles(comm, folder + "/locked"), Catch::Contains("Permission denied"));
}
