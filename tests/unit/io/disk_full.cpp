#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "src/io/hdf5/output.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/io/catalogue_file.hpp"

using namespace zhalo;
using namespace zhalo::io;
namespace fs = std::filesystem;

namespace {

/// Mounts of this process are its own, and end with it, however that ends.
bool keeps_mounts_to_itself() {
  static const bool keeps =
      ::unshare(CLONE_NEWNS) == 0 &&
      ::mount(nullptr, "/", nullptr, static_cast<unsigned long>(MS_REC) | MS_PRIVATE, nullptr) == 0;
  return keeps;
}

/// A file system in memory with room for so many kilobytes.
class SmallDisk {
 public:
  SmallDisk(const std::string& path, int kilobytes) : path_(path) {
    if (!keeps_mounts_to_itself()) return;
    fs::create_directories(path_);
    const std::string options = "size=" + std::to_string(kilobytes) + "k";
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(path_.c_str());
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

Index entries_below(const std::string& directory) {
  Index entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(directory)) ++entries;
  return entries;
}

/// 1000 groups of 100 members: about 1.2 MB.
void write_large_catalogue(const Communicator& comm, const std::string& out,
                           const WriteOptions& options) {
  constexpr std::size_t num = 1000;
  Catalogue catalogue;
  catalogue.num_groups_total = num;
  catalogue.length.assign(num, 100);
  catalogue.length_by_type = catalogue.length;
  for (Index g = 0; g < static_cast<Index>(num); ++g) {
    catalogue.label.push_back(100 * g);
    catalogue.offset.push_back(100 * g);
  }
  catalogue.mass_by_type.assign(num, 100.0);
  catalogue.properties.resize(num);
  const std::vector<std::uint64_t> ids(100 * num, 7);
  SnapshotInfo snapshot;
  snapshot.files = {"snapshot"};
  snapshot.types.resize(6);
  StagedFiles files(comm, out);
  write_catalogue(files, {catalogue, ids}, snapshot, {.linked_types = {1}}, options);
  files.commit();
}

/// From no room for the first byte to room for everything: creation, datasets, attributes and the
/// last flush all meet a full disk.
void check_every_size(const std::string& path, const WriteOptions& options) {
  const Communicator comm;
  const Index num_entries = 1 + options.num_files + (options.master ? 1 : 0);  // with the directory
  int failures = 0, successes = 0;
  for (int kilobytes = 4; kilobytes <= 2048; kilobytes += kilobytes < 64 ? 4 : 60) {
    const SmallDisk disk(path, kilobytes);
    if (!disk.mounted()) {
      WARN("skipped: a small disk cannot be mounted here (" << std::strerror(errno) << ")");
      return;
    }
    INFO(kilobytes << " KB, " << options.num_files << " files");
    try {
      write_large_catalogue(comm, disk.path(), options);
      ++successes;
      CHECK(entries_below(disk.path()) == num_entries);
    } catch (const FileError& error) {
      ++failures;
      CHECK_THAT(error.what(),
                 Catch::Contains("No space left on device") && Catch::Contains(disk.path()));
      CHECK(entries_below(disk.path()) == 0);
    }
  }
  CHECK(failures > 10);
  CHECK(successes > 3);
}

}  // namespace

TEST_CASE("a full disk is one clear error, and nothing is left, wherever it strikes") {
  const std::string path = std::string(ZHALO_SCRATCH_DIR) + "/small_disk";
  check_every_size(path, {.num_files = 1});
  check_every_size(path, {.num_files = 3, .master = true});
  // HDF5 has let go of every file: it can write again.
  hdf5::OutputFile file(path + ".hdf5", path + ".hdf5");
  file.make_group("Header");
  CHECK_NOTHROW(file.close());
  fs::remove(path + ".hdf5");
}
