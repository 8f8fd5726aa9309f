/// Rows that ranks write to one file at once: the bytes are those of one rank's file, for any
/// shares and lengths of calls.
#include "src/io/hdf5/output.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>

#include "tests/mpi/io/faults.hpp"

using namespace zhalo;
using namespace zhalo::io;
using namespace zhalo::io::hdf5;
using namespace faults;

namespace {

/// Three datasets of rows of other shapes, whose numbers are their indices.
struct Table {
  Index rows = 0;
  std::vector<Index> numbers;  // one in a row
  std::vector<float> vectors;  // three
  std::vector<double> planes;  // four lines of five

  Table(Index first, Index count) : rows(count) {
    numbers.resize(static_cast<std::size_t>(count));
    vectors.resize(3 * numbers.size());
    planes.resize(20 * numbers.size());
    std::iota(numbers.begin(), numbers.end(), first);
    std::iota(vectors.begin(), vectors.end(), 3 * static_cast<float>(first));
    std::iota(planes.begin(), planes.end(), 20 * static_cast<double>(first));
  }
  std::vector<PlacedRows> placed(Index first) const {
    DatasetView of_planes = cells_of(Span<const double>(planes), 20);
    of_planes.row_shape = {4, 5};
    return {{"Numbers", first, cells_of(Span<const Index>(numbers))},
            {"Vectors", first, cells_of(Span<const float>(vectors), 3)},
            {"Planes", first, of_planes}};
  }
};

/// The file with all its datasets, and with rows if there are any.
void make_file(const std::string& path, Index num_rows, const std::vector<PlacedRows>& columns,
               bool with_rows) {
  OutputFile file(path, path);
  for (const PlacedRows& column : columns)
    file.make_dataset(column.dataset, column.cells, num_rows);
  for (const PlacedRows& column : columns) {
    if (with_rows) file.write_rows(column.dataset, 0, column.cells);
  }
  file.close();
}

/// Rank r writes counts(r) rows, at most `max_bytes` in a call.
template <class Counts>
void check_shares(const Communicator& comm, const std::string& out, Counts counts,
                  Index max_bytes) {
  const Index mine = counts(comm.rank()), first = comm.exclusive_sum(mine), total = comm.sum(mine);
  INFO(total << " rows, " << max_bytes << " bytes in a call");
  const std::string path = out + "/at_once.hdf5", expected = out + "/alone.hdf5";
  if (comm.rank() == 0) {
    const Table all(0, total);
    make_file(expected, total, all.placed(0), true);
    make_file(path, total, all.placed(0), false);
  }
  comm.barrier();
  const Table table(first, mine);
  write_at_once(comm, {path, "shown"}, table.placed(first), max_bytes);
  if (comm.rank() == 0) CHECK((bytes_of(path) == bytes_of(expected)));
  comm.barrier();
}

}  // namespace

TEST_CASE("rows written at once are those of one rank") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch_folder(comm, "at_once");
  if (!can_write_at_once()) return;
  const int last = comm.size() - 1;
  for (const Index max_bytes : {Index{1}, Index{40}, Index{100}, max_bytes_at_once}) {
    check_shares(
        comm, out, [](int rank) { return Index{3} * rank % 5; }, max_bytes);  // rank 0 has none
    check_shares(
        comm, out, [](int) { return 2; }, max_bytes);
    check_shares(
        comm, out, [&](int rank) { return rank == last ? 7 : 0; }, max_bytes);
    check_shares(
        comm, out, [](int) { return 0; }, max_bytes);
  }
}

TEST_CASE("a file that one rank cannot open is everybody's error") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string out = scratch_folder(comm, "not_everywhere");
  const int culprit = comm.size() - 1;
  const Table table(comm.rank(), 1);
  const std::string path = out + "/there.hdf5";
  if (comm.rank() == 0) make_file(path, comm.size(), Table(0, comm.size()).placed(0), false);
  comm.barrier();
  const auto write = [&](const std::string& where, std::vector<PlacedRows> rows) {
    return message_of([&] { write_at_once(comm, {where, "shown"}, rows); });
  };
  const auto rows = table.placed(comm.rank());
  if (!can_write_at_once())
    return check_same_on_all(comm, write(path, rows), "built without parallel HDF5");
  check_same_on_all(comm, write(comm.rank() == culprit ? out + "/nowhere.hdf5" : path, rows),
                    "'shown' cannot be written: No such file");
  auto unknown = rows;
  unknown.back().dataset = "Unknown";
  check_same_on_all(comm, write(path, unknown), "'shown' cannot be written by its");
  auto outside = rows;
  if (comm.rank() == culprit) outside[1].first = comm.size();
  check_same_on_all(comm, write(path, outside), "'shown' cannot be written by its");
  CHECK(write(path, rows) == "none");
}

TEST_CASE("what a rank fails to write is everybody's error") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string path = scratch_folder(comm, "fails_within") + "/file.hdf5";
  if (!can_write_at_once()) return;
  const Index first = 400 * Index{comm.rank()};
  const Table table(first, 400);
  for (int culprit = 0; culprit < comm.size(); ++culprit) {
    INFO("culprit " << culprit);
    if (comm.rank() == 0) make_file(path, 400 * comm.size(), table.placed(0), false);
    comm.barrier();
    if (comm.rank() == culprit) fail_one_write_beyond(9000);
    const std::string message = message_of([&] {
      write_at_once(comm, {path, "shown"}, table.placed(first));
    });
    lift_limit(0);
    check_same_on_all(comm, message, "'shown' cannot be written by its ");
    if (comm.size() > 1) check_same_on_all(comm, message, "rank " + std::to_string(culprit) + ":");
    comm.barrier();
  }
}

TEST_CASE("what is no HDF5 file is refused by all ranks") {
  const Communicator comm(MPI_COMM_WORLD);
  const std::string path = scratch_folder(comm, "no_hdf5") + "/text";
  if (comm.rank() == 0) std::ofstream(path) << "text";
  comm.barrier();
  check_same_on_all(comm, message_of([&] {
                      write_at_once(comm, {path, "shown"}, {});
                    }),
                    "'shown' cannot be written");
}
