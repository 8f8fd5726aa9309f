/// A run that is killed, as by a batch system: earlier results stay what they were.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tests/mpi/io/invented.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace invented;
namespace fs = std::filesystem;

namespace {

std::string scratch(const std::string& name) {
  const fs::path path = fs::path(ZHALO_SCRATCH_DIR) / name;
  fs::remove_all(path);
  return path.string();
}

/// What lies at the names that users know.
std::map<std::string, std::string> visible_files(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file() || entry.path().filename().string()[0] == '.') continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

void rest() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

enum class Until { catalogue, all, commit };

void write(const std::string& out, const World& world, Index num_files, Until end) {
  const Communicator alone;
  const ParticleColumns particles(world, {0, world.num_particles()});
  const WriteOptions options{.num_files = num_files, .master = true};
  StagedFiles files(alone, out);
  write_catalogue(files, {table_of(world, {0, world.num_groups}), member_ids_of(world, {0, world.num_members()})},
                  snapshot_of(world), run_record(), options);
  if (end == Until::catalogue) ::raise(SIGKILL);
  write_membership(files, {particles.ranges, particles.group_of, particles.ids}, snapshot_of(world), run_record(), options);
  if (end == Until::all) ::raise(SIGKILL);
  files.commit();
}

/// Runs `work` in a process of its own that is killed after this time, if it has not ended before. True if it was killed. Until then calls
/// `watch` again and again.
template <class Work, class Watch>
bool killed(Work work, std::chrono::milliseconds after, Watch watch) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  const auto end = std::chrono::steady_clock::now() + after;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) ::kill(child, SIGKILL);
    watch();
  }
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace

TEST_CASE("killed before the commit: every final name is as it was") {
  const std::string out = scratch("before_commit");
  write(out, World(4), 3, Until::commit);
  const auto before = visible_files(out);
  REQUIRE(before.size() == 8);
  for (const Until end : {Until::catalogue, Until::all}) {
    REQUIRE(killed([&] { write(out, World(10), 2, end); }, std::chrono::seconds(20), rest));
    CHECK(visible_files(out) == before);
  }
  write(out, World(10), 2, Until::commit);  // the next run is not disturbed by what a killed one left
  const std::string undisturbed = scratch("undisturbed");
  write(undisturbed, World(10), 2, Until::commit);
  const auto found = visible_files(out), expected = visible_files(undisturbed);
  REQUIRE(found.size() == expected.size());
  for (const auto& [path, bytes] : expected) CHECK(found.at(out + path.substr(undisturbed.size())) == bytes);
}

TEST_CASE("killed at any moment: every final name has a whole file") {
  const std::string out = scratch("any_moment");
  constexpr int num_files = 6;
  const auto path_of = [&](int number) { return out + "/table." + std::to_string(number) + ".hdf5"; };
  int missing = 0;
  const auto watch = [&] {
    for (int number = 0; number < num_files; ++number) missing += ::access(path_of(number).c_str(), R_OK) == 0 ? 0 : 1;
  };
  const auto write_version = [&](int version) {
    const Communicator alone;
    StagedFiles files(alone, out);
    for (int number = 0; number < num_files; ++number)
      std::ofstream(files.stage("table." + std::to_string(number) + ".hdf5"))
          << std::string(5000, static_cast<char>('a' + version % 26));
    files.commit();
  };
  write_version(0);
  for (int round = 0; round < 20; ++round) {
    const auto work = [&] {
      for (int version = 1;; ++version) write_version(version);
    };
    REQUIRE(killed(work, std::chrono::milliseconds(20 + round), watch));
    CHECK(missing == 0);
    const auto found = visible_files(out);
    REQUIRE(found.size() == num_files);
    for (const auto& [path, bytes] : found) CHECK((bytes.size() == 5000 && bytes == std::string(5000, bytes[0])));
  }
}
