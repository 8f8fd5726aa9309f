/// Columns that a thread reads. The ranks and files around it: tests/mpi/io/load.cpp.
#include "src/io/snapshot/column_reading.hpp"

#include <catch2/catch.hpp>
#include <future>

#include "zhalo/core/error.hpp"

using namespace zhalo;
using namespace zhalo::io;

namespace {

constexpr auto in_background = ColumnReading::When::in_background;

void count_from(Index row, Span<Index> part) {
  for (Index& value : part) value = row++;
}

}  // namespace

TEST_CASE("all rows of all columns are read, in several parts") {
  const Index num = (Index{1} << 24) + 5;
  for (const auto when : {ColumnReading::When::at_once, in_background}) {
    ColumnReading reading(when);
    const Buffer<Index> first = reading.add<Index>(host_exec(), {num, 1}, "numbers", count_from);
    const Buffer<Index> second = reading.add<Index>(host_exec(), {3, 1}, "numbers", count_from);
    reading.start();
    reading.finish();
    bool all = true;
    for (Index row = 0; row < num; ++row) all = all && first.data()[row] == row;
    CHECK(all);
    CHECK(second.data()[2] == 2);
  }
}

TEST_CASE("finish() throws what reading threw, each time, and what came before is there") {
  ColumnReading reading(in_background);
  const Buffer<Index> before = reading.add<Index>(host_exec(), {3, 1}, "numbers", count_from);
  const auto column = reading.add<Index>(host_exec(), {3, 1}, "broken", [](Index, Span<Index>) {
    throw FileError("the disk is broken");
  });
  reading.start();
  CHECK_THROWS_WITH(reading.finish(), "the disk is broken");
  CHECK(before.data()[2] == 2);
  CHECK_THROWS_WITH(reading.finish(), "the disk is broken");
}

TEST_CASE("without a thread finish() reads") {
  ColumnReading reading(in_background);
  const Buffer<Index> column = reading.add<Index>(host_exec(), {3, 1}, "numbers", count_from);
  reading.finish();
  CHECK(column.data()[2] == 2);
}

TEST_CASE("who gives up waits for one part of a column only") {
  int parts = 0;
  std::promise<void> begun, given_up;
  ColumnReading reading(in_background);
  const auto read = [&](Index, Span<std::uint8_t>) {
    if (parts++ > 0) return;
    begun.set_value();
    given_up.get_future().wait();
  };
  const auto column = reading.add<std::uint8_t>(host_exec(), {Index{1} << 26, 1}, "bytes", read);
  reading.start();
  begun.get_future().wait();
  reading.give_up();
  given_up.set_value();
  reading.finish();
  CHECK(parts == 1);
}
