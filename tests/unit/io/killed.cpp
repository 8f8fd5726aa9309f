/// A run that is killed, as by a batch system: earlier results stay what they were.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tests/mpi/io/invented.hpp"
#include "zhalo/io/result_file.hpp"

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
  write_catalogue(
      files,
      {table_of(world, {0, world.num_groups}), member_ids_of(world, {0, world.num_members()})},
      snapshot_of(world), run_record(), options);
  if (end == Until::catalogue) ::raise(SIGKILL);
  write_membership(files, {particles.ranges, particles.group_of, particles.ids}, snapshot_of(world),
                   run_record(), options);
  if (end == Until::all) ::raise(SIGKILL);
  files.commit();
}

/// Runs `work` in a process of its own that is killed after this time, if it has not ended before.
/// True if it was killed. Until then calls `watch` again and again.
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
  write(out, World(10), 2,
        Until::commit);  // the next run is not disturbed by what a killed one left
  const std::string undisturbed = scratch("undisturbed");
  write(undisturbed, World(10), 2, Until::commit);
  const auto found = visible_files(out), expected = visible_files(undisturbed);
  REQUIRE(found.size() == expected.size());
  for (const auto& [path, bytes] : expected)
    CHECK(found.at(out + path.substr(undisturbed.size())) == bytes);
}

namespace {

std::string name_of(int number) { return "table." + std::to_string(number) + ".hdf5"; }

/// Files number 0 to num_files - 1, all with the same letter, and if asked for a master with it,
/// too.
void write_version(const std::string& out, int version, int num_files, bool master) {
  const Communicator alone;
  StagedFiles files(alone, out);
  const auto fill = [&](const std::string& path) {
    std::ofstream(path) << std::string(5000, static_cast<char>('a' + version % 26));
  };
  files.claim_numbered("table", num_files);
  for (int number = 0; number < num_files; ++number) fill(files.stage(name_of(number)));
  if (master) fill(files.stage("table.hdf5", StagedFiles::Appears::last));
  if (!master) files.retire("table.hdf5");
  files.commit();
}

/// All that can be seen is whole and of one version, and a master is not there without the files
/// that it shows.
void check_set(const std::map<std::string, std::string>& found, std::size_t num_with_master) {
  for (const auto& [path, bytes] : found) {
    CHECK((bytes.size() == 5000 && bytes == std::string(5000, bytes[0])));
    CHECK(bytes[0] == found.begin()->second[0]);
  }
  const auto is_master = [](const auto& file) {
    return fs::path(file.first).filename() == "table.hdf5";
  };
  if (std::any_of(found.begin(), found.end(), is_master)) CHECK(found.size() == num_with_master);
}

/// At another moment in each look.
void stop_after_a_while(pid_t child, int look) {
  std::this_thread::sleep_for(std::chrono::microseconds(100 + 37 * (look % 64)));
  ::kill(child, SIGSTOP);
  int status = 0;
  REQUIRE((::waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)));
}

}  // namespace

TEST_CASE("stopped or killed at any moment: old and new files are never seen together") {
  const std::string out = scratch("any_moment");
  constexpr int num_files = 6;
  write_version(out, 0, num_files, true);
  std::size_t fewest = num_files + 1;
  for (int round = 0; round < 5; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int version = 1;; ++version) write_version(out, version, num_files, true);
    }
    for (int look = 0; look < 200; ++look) {
      stop_after_a_while(child, look);
      const auto found = visible_files(out);
      check_set(found, num_files + 1);
      fewest = std::min(fewest, found.size());
      ::kill(child, SIGCONT);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    check_set(visible_files(out), num_files + 1);
  }
  CHECK(fewest < num_files);  // it was looked during commits, too
  write_version(out, 0, num_files,
                true);  // the next run is not disturbed by what a killed one left
  CHECK(visible_files(out).size() == num_files + 1);
}

namespace {

/// Results in three files and a master, or in one.
void write_results_in(const std::string& out, bool several) {
  const Communicator alone;
  const World world(4);
  std::vector<double> numbers(static_cast<std::size_t>(world.num_particles()), several ? 3 : 1);
  Results results;
  results.types = {1, 4};
  results.ranges = ranges_of(snapshot_of(world), results.types, {0, world.num_particles()});
  ResultColumn& column = results.columns.emplace_back();
  column.name = "Numbers";
  column.values = Span<const double>(numbers);
  StagedFiles files(alone, out);
  write_results(files, "results", results, snapshot_of(world),
                {.num_files = several ? 3 : 1, .master = several});
  files.commit();
}

using Files = std::map<std::string, std::string>;

/// By their names in the directory.
Files files_by_name(const std::string& directory) {
  Files files;
  for (const auto& [path, bytes] : visible_files(directory))
    files[fs::path(path).filename().string()] = bytes;
  return files;
}

bool is_part_of(const Files& found, const Files& whole) {
  return std::all_of(found.begin(), found.end(), [&](const auto& file) {
    const auto same = whole.find(file.first);
    return same != whole.end() && same->second == file.second;
  });
}

}  // namespace

TEST_CASE("stopped at any moment: a master that one file replaces is not seen without its files") {
  Files sets[2];
  for (const bool several : {false, true}) {
    const std::string alone = scratch(several ? "set_of_several" : "set_of_one");
    write_results_in(alone, several);
    sets[several ? 1 : 0] = files_by_name(alone);
  }
  REQUIRE(sets[0].size() == 1);
  REQUIRE(sets[1].size() == 4);
  const std::string out = scratch("alternating");
  write_results_in(out, true);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int version = 0;; ++version) write_results_in(out, version % 2 == 1);
  }
  int seen[3]{};
  for (int look = 0; look < 1000; ++look) {
    stop_after_a_while(child, look);
    const Files found = files_by_name(out);
    const bool is_whole = found == sets[0] || found == sets[1];
    CHECK((is_part_of(found, sets[0]) || is_part_of(found, sets[1])));
    if (found.count("results.hdf5") > 0) CHECK(is_whole);
    ++seen[is_whole ? found == sets[1] : 2];
    ::kill(child, SIGCONT);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const int times : seen) CHECK(times > 0);
}

TEST_CASE("killed at any moment: a file that is alone is never missing") {
  const std::string out = scratch("alone");
  write_version(out, 0, 1, false);
  int missing = 0;
  const auto watch = [&] {
    missing += ::access((out + "/" + name_of(0)).c_str(), R_OK) == 0 ? 0 : 1;
  };
  for (int round = 0; round < 10; ++round) {
    const auto work = [&] {
      for (int version = 1;; ++version) write_version(out, version, 1, false);
    };
    REQUIRE(killed(work, std::chrono::milliseconds(20 + round), watch));
    CHECK(missing == 0);
    const auto found = visible_files(out);
    CHECK(found.size() == 1);
    check_set(found, 2);
  }
}
