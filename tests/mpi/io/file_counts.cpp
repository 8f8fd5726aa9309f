/// Any number of files for any number of ranks: together they hold what one rank writes into one
/// file.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/mpi/io/hdf5_contents.hpp"
#include "tests/mpi/io/invented.hpp"
#include "tests/mpi/io/scratch.hpp"
#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace invented;
namespace fs = std::filesystem;

namespace {

/// But for NumFiles, which in the master of a catalogue is the number of files.
contents::File without_number(contents::File file) {
  file.attributes.erase("Header:NumFiles");
  return file;
}

/// How rows, ids and particles lie on the ranks.
enum class Layout { even, all_on_first, all_on_last, ragged };

/// What falls to a rank; `kind` makes different numbers for rows, ids and particles. Ragged:
/// weights 0 to 3, also 0.
Share part_of(Index total, Layout layout, int kind, const Communicator& comm) {
  const auto weight = [&](int rank) -> Index {
    if (layout == Layout::all_on_first) return rank == 0 ? 1 : 0;
    if (layout == Layout::all_on_last) return rank == comm.size() - 1 ? 1 : 0;
    return layout == Layout::even ? 1 : (3 * rank + 2 + kind) % 4;
  };
  Index before = 0, sum = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank < comm.rank()) before += weight(rank);
    sum += weight(rank);
  }
  if (sum == 0) return {0, comm.rank() == 0 ? total : 0};
  const Index first = total * before / sum;
  return {first, total * (before + weight(comm.rank())) / sum - first};
}

struct Parts {
  Share rows, ids, particles;
  Parts(const World& world, Layout layout, const Communicator& comm)
      : rows(part_of(world.num_groups, layout, 0, comm)),
        ids(part_of(world.num_members(), layout, 1, comm)),
        particles(part_of(world.num_particles(), layout, 2, comm)) {}
};

void write_all(StagedFiles& files, const World& world, const Parts& parts,
               const WriteOptions& options) {
  const Catalogue catalogue = table_of(world, parts.rows);
  const auto ids = member_ids_of(world, parts.ids);
  const ParticleColumns particles(world, parts.particles);
  write_catalogue(files, {catalogue, ids}, snapshot_of(world), run_record(), options);
  write_membership(files, {particles.ranges, particles.group_of, particles.ids}, snapshot_of(world),
                   run_record(), options);
}

const std::vector<std::string> prefixes{"groups_042/fof_subhalo_tab_042", "membership_042"};

std::string numbered(const std::string& out, const std::string& prefix, Index number) {
  return out + "/" + prefix + "." + std::to_string(number) + ".hdf5";
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool differs_by_file(const std::string& attribute) {
  return attribute == "Header:NumFiles" || attribute.find("_ThisFile") != std::string::npos ||
         attribute.find(":FirstParticle") != std::string::npos;
}

/// Headers against what the file itself holds and what the files before it hold.
void check_counts(const contents::File& file, std::map<std::string, hsize_t>& before) {
  if (file.datasets.count("Group/GroupLen") > 0) {
    const auto rows = static_cast<Index>(file.datasets.at("Group/GroupLen").extent[0]);
    const auto ids = static_cast<Index>(file.datasets.at("IDs/ID").extent[0]);
    CHECK(contents::integers(file, "Header:Ngroups_ThisFile") == std::vector<Index>{rows});
    CHECK(contents::integers(file, "Header:Nids_ThisFile") == std::vector<Index>{ids});
    CHECK(contents::integers(file, "Header:Nsubgroups_ThisFile") == std::vector<Index>{0});
  } else {
    std::vector<Index> counts(6);
    for (const std::size_t type : {1U, 4U}) {
      const std::string group = "PartType" + std::to_string(type);
      const hsize_t rows = file.datasets.at(group + "/GroupNr").extent[0];
      counts[type] = static_cast<Index>(rows);
      CHECK(contents::integers(file, group + ":FirstParticle") ==
            std::vector<Index>{static_cast<Index>(before[group])});
      before[group] += rows;
    }
    CHECK(contents::integers(file, "Header:NumPart_ThisFile") == counts);
  }
}

/// The files of a set put together are the reference; every attribute that does not count one
/// file's rows is the reference's.
void check_set(const std::string& out, const std::string& prefix, Index num_files,
               const contents::File& reference) {
  contents::File joined;
  std::map<std::string, hsize_t> before;
  for (Index number = 0; number < num_files; ++number) {
    contents::File file = contents::read(numbered(out, prefix, number));
    CHECK(contents::integers(file, "Header:NumFiles") == std::vector<Index>{num_files});
    check_counts(file, before);
    CHECK(file.groups == reference.groups);
    std::erase_if(file.attributes, [](const auto& item) { return differs_by_file(item.first); });
    if (number == 0) {
      joined = file;
      continue;
    }
    CHECK(file.attributes == joined.attributes);
    REQUIRE(file.datasets.size() == joined.datasets.size());
    for (auto& [name, values] : joined.datasets) {
      const contents::Values& more = file.datasets.at(name);
      CHECK(more.type == values.type);
      REQUIRE(more.extent.size() == values.extent.size());
      if (more.extent.size() == 2) CHECK(more.extent[1] == values.extent[1]);
      values.extent[0] += more.extent[0];
      values.bytes += more.bytes;
    }
  }
  auto expected = reference.attributes;
  std::erase_if(expected, [](const auto& item) { return differs_by_file(item.first); });
  CHECK(joined.attributes == expected);
  CHECK(joined.datasets == reference.datasets);
  CHECK_FALSE(fs::exists(numbered(out, prefix, num_files)));
}

/// What rank r has lies where the definition says.
void check_locations(const Communicator& comm, const Share& rows, Index num_files,
                     const std::string& out) {
  const Index ranks = comm.size(), rank = comm.rank();
  std::vector<Index> expected(static_cast<std::size_t>(num_files));
  for (Index file = 0; file < num_files; ++file) {
    Index& count = expected[static_cast<std::size_t>(file)];
    if (num_files <= ranks) {
      if (rank >= file * ranks / num_files && rank < (file + 1) * ranks / num_files)
        count = rows.count;
    } else {
      const Index first = rank * num_files / ranks, end = (rank + 1) * num_files / ranks;
      if (file >= first && file < end)
        count = share_of(rows.count, static_cast<int>(file - first), static_cast<int>(end - first))
                    .count;
    }
  }
  comm.sum_in_place(expected);
  for (Index file = 0; file < num_files && rank == 0; ++file) {
    CHECK(contents::integers(contents::read(numbered(out, prefixes[0], file)),
                             "Header:Ngroups_ThisFile")[0] ==
          expected[static_cast<std::size_t>(file)]);
  }
}

Index entries_below(const std::string& directory) {
  const fs::recursive_directory_iterator all(directory);
  return std::count_if(begin(all), end(all),
                       [](const auto& entry) { return entry.is_regular_file(); });
}

void check_any_number_of_files(const World& world, const std::string& name,
                               const std::vector<Layout>& layouts) {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator alone;
  const std::string reference = scratch(comm, name + "/reference"),
                    out = scratch(comm, name + "/out");
  if (comm.rank() == 0) {
    StagedFiles files(alone, reference);
    write_all(files, world, Parts(world, Layout::even, alone), {.num_files = 1});
    files.commit();
  }
  comm.barrier();
  for (const Layout layout : layouts) {
    for (const Index asked : {1, 2, 3, 0, 2 * comm.size() + 1, 25}) {
      const Index num_files = asked == 0 ? comm.size() : asked;
      INFO("layout " << static_cast<int>(layout) << ", files " << asked);
      const Parts parts(world, layout, comm);
      StagedFiles files(
          comm, out);  // over the files of the case before, of which there may have been more
      write_all(files, world, parts, {.num_files = asked, .master = asked != 2});
      files.commit();
      check_locations(comm, parts.rows, num_files, out);
      if (comm.rank() == 0) {
        CHECK(entries_below(out) == 2 * num_files + (asked != 2 ? 2 : 0));
        for (const auto& prefix : prefixes) {
          const contents::File expected = contents::read(numbered(reference, prefix, 0));
          check_set(out, prefix, num_files, expected);
          if (asked == 1)
            CHECK((bytes_of(numbered(out, prefix, 0)) == bytes_of(numbered(reference, prefix, 0))));
          if (asked == 2) continue;
          const contents::File master = contents::read(out + "/" + prefix + ".hdf5");
          CHECK(without_number(master).attributes == without_number(expected).attributes);
          CHECK(master.datasets == expected.datasets);
          CHECK(master.groups == expected.groups);
        }
      }
      comm.barrier();
    }
  }
}

}  // namespace

TEST_CASE("K files on P ranks hold what one rank writes into one file") {
  check_any_number_of_files(
      World(), "full", {Layout::even, Layout::all_on_first, Layout::all_on_last, Layout::ragged});
}

TEST_CASE("no groups, in any number of files") {
  check_any_number_of_files(World(0, 50, 3), "no_groups", {Layout::ragged});
}

TEST_CASE("no particles at all, in any number of files") {
  check_any_number_of_files(World(0, 0, 0), "nothing", {Layout::ragged});
}

TEST_CASE("one group and one particle type") {
  check_any_number_of_files(World(1, 0, 0), "one_group", {Layout::ragged});
}
