/// Communicator over several ranks: each test case runs on all of them.
#include "zhalo/comm/communicator.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "src/comm/agreement.hpp"
#include "zhalo/core/error.hpp"
#include "zhalo/domain/particles.hpp"

namespace {

using namespace zhalo;

/// What was thrown, by name, and its words.
struct Thrown {
  std::string kind = "nothing";
  std::string message;
};

template <class Work>
Thrown thrown_by(const Communicator& comm, const Work& work) {
  try {
    comm.together(work);
  } catch (const InputError& error) {
    return {"InputError", error.what()};
  } catch (const FileError& error) {
    return {"FileError", error.what()};
  } catch (const OutOfMemory& error) {
    return {"OutOfMemory", error.what()};
  } catch (const Error& error) {
    return {"Error", error.what()};
  }
  return {};
}

std::string with_rank(const Communicator& comm, int rank, const std::string& message) {
  return comm.size() > 1 ? "rank " + std::to_string(rank) + ": " + message : message;
}

}  // namespace

TEST_CASE("ranks are those of the parent") {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Communicator comm(MPI_COMM_WORLD);
  CHECK(comm.rank() == rank);
  CHECK(comm.size() == size);
  CHECK_THROWS_AS(Communicator(MPI_COMM_NULL), InputError);
}

TEST_CASE("sums, extremes and prefixes over the ranks") {
  const Communicator comm(MPI_COMM_WORLD);
  const Index rank = comm.rank();
  const Index size = comm.size();
  CHECK(comm.sum(rank + 1) == size * (size + 1) / 2);
  CHECK(comm.sum(static_cast<double>(rank) + 0.5) == static_cast<double>(size * size) / 2);
  CHECK(comm.min(10 - rank) == 10 - (size - 1));
  CHECK(comm.min(static_cast<double>(rank) - 0.5) == -0.5);
  CHECK(comm.max(10 * rank) == 10 * (size - 1));
  CHECK(comm.max(-static_cast<double>(rank)) == 0);
  CHECK(comm.exclusive_sum(rank + 1) == rank * (rank + 1) / 2);
  CHECK(comm.sum(Index{1} << 40) == size << 40);
  std::vector<Index> values{rank, 1, -rank};
  comm.sum_in_place(values);
  CHECK(values == std::vector<Index>{size * (size - 1) / 2, size, -size * (size - 1) / 2});
  std::vector<Index> none;
  comm.sum_in_place(none);
  const Span<Index> missing(nullptr, rank == 0 ? 3 : 0);
  const auto contains = Catch::Contains("3 elements are given, and their address is null");
  CHECK_THROWS_WITH(comm.together([&] { comm.sum_in_place(missing); }), contains);
  CHECK_THROWS_WITH(comm.together([&] { comm.exclusive_sum_in_place(missing); }), contains);
  comm.barrier();
  const GlobalRange range = global_range(comm, rank * 3);
  CHECK(range.first == 3 * rank * (rank - 1) / 2);
  CHECK(range.total == 3 * size * (size - 1) / 2);
}

TEST_CASE("sums of arrays and texts may travel in messages that are shorter than a number") {
  const Communicator comm(MPI_COMM_WORLD, {.timeout_seconds = 20, .chunk_bytes = 1});
  const Index size = comm.size();
  std::vector<Index> values{1, Index{1} << 40, comm.rank()};
  comm.sum_in_place(values);
  CHECK(values == std::vector<Index>{size, size << 40, size * (size - 1) / 2});
  comm.exclusive_sum_in_place(values);
  CHECK(values[0] == size * comm.rank());
  const std::string text = "in pieces of one letter";
  CHECK(comm.broadcast(comm.rank() == 0 ? text : "") == text);
}

TEST_CASE("the length of messages has limits") {
  constexpr Index longest = Index{1} << 30;
  for (const Index bytes : {Index{1}, longest})
    CHECK_NOTHROW(Communicator(MPI_COMM_WORLD, {.chunk_bytes = bytes}));
  for (const Index bytes : {Index{0}, longest + 1})
    CHECK_THROWS_WITH(Communicator(MPI_COMM_WORLD, {.chunk_bytes = bytes}),
                      Catch::Contains("(must be 1 to 1073741824)"));
}

TEST_CASE("numbers and texts are equal if every bit is, and every text has its own letters") {
  const Communicator comm(MPI_COMM_WORLD);
  const bool is_last = comm.rank() == comm.size() - 1;
  const bool is_alone = comm.size() == 1;
  CHECK(are_equal(comm, {1, 2}));
  for (int bit = 0; bit < 63; ++bit)
    CHECK(are_equal(comm, {7, is_last ? Index{1} << bit : 0}) == is_alone);
  CHECK(are_equal(comm, is_last ? std::vector<Index>{1, 2} : std::vector<Index>{2, 1}) == is_alone);
  const auto texts = [](std::string_view first, std::string_view second) {
    return numbers_of(first, second);
  };
  CHECK(are_equal(comm, texts("ab", "c")));
  CHECK(are_equal(comm, is_last ? texts("ab", "c") : texts("a", "bc")) == is_alone);
}

TEST_CASE("values become numbers that tell them apart") {
  using Optional = std::optional<double>;
  CHECK(numbers_of(0.0) != numbers_of(-0.0));
  CHECK(numbers_of(0.1F) == numbers_of(static_cast<double>(0.1F)));
  CHECK(numbers_of(Optional()) != numbers_of(Optional(0)));
  CHECK(numbers_of(Optional(1)) != numbers_of(Optional(2)));
  CHECK(numbers_of(Vec3d{{1, 2, 3}}) != numbers_of(Vec3d{{1, 2, -3}}));
  CHECK(numbers_of(std::vector<int>{1}, std::vector<int>{}) !=
        numbers_of(std::vector<int>{}, std::vector<int>{1}));
  CHECK(numbers_of(true, Transport::nccl, 3) ==
        std::vector<Index>{1, static_cast<Index>(Transport::nccl), 3});
}

TEST_CASE("text is broadcast from any rank, whatever the others hold") {
  const Communicator comm(MPI_COMM_WORLD);
  for (int root = 0; root < comm.size(); ++root) {
    const std::string own =
        comm.rank() == root ? "from " + std::to_string(root) : std::string(100, 'x');
    CHECK(comm.broadcast(own, root) == "from " + std::to_string(root));
    CHECK(comm.broadcast(comm.rank() == root ? "" : "not this", root).empty());
  }
}

TEST_CASE(
    "no such root, and a negative colour, are errors, and the communicator works afterwards") {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int root : {-1, 99}) CHECK_THROWS_AS(comm.broadcast("text", root), InputError);
  CHECK_THROWS_AS(comm.split(-1), InputError);
  CHECK_THROWS_AS(comm.split(comm.rank() == 0 ? -1 : 0), InputError);
  CHECK(comm.sum(Index{1}) == comm.size());
}

TEST_CASE("together: no error where nobody fails") {
  const Communicator comm(MPI_COMM_WORLD);
  int runs = 0;
  CHECK_NOTHROW(comm.together([&] { ++runs; }));
  CHECK(runs == 1);
}

TEST_CASE(
    "together: what fails on one rank becomes the same error on all, with that rank's number") {
  const Communicator comm(MPI_COMM_WORLD);
  for (int culprit = 0; culprit < comm.size(); ++culprit) {
    const Thrown thrown = thrown_by(comm, [&] {
      if (comm.rank() == culprit) throw FileError("cannot read a file");
    });
    CHECK(thrown.kind == "FileError");
    CHECK(thrown.message == with_rank(comm, culprit, "cannot read a file"));
  }
}

TEST_CASE("together: of several errors the lowest rank's is thrown everywhere, with its type") {
  const Communicator comm(MPI_COMM_WORLD);
  const int lowest = comm.size() / 2;
  const Thrown thrown = thrown_by(comm, [&] {
    if (comm.rank() == lowest) throw OutOfMemory("of rank " + std::to_string(comm.rank()));
    if (comm.rank() > lowest) throw InputError("of rank " + std::to_string(comm.rank()));
  });
  CHECK(thrown.kind == "OutOfMemory");
  CHECK(thrown.message == with_rank(comm, lowest, "of rank " + std::to_string(lowest)));
}

TEST_CASE("together: the same words of errors of two kinds are not alike") {
  const Communicator comm(MPI_COMM_WORLD);
  const Thrown thrown = thrown_by(comm, [&] {
    if (comm.rank() == 0) throw InputError("nothing to read");
    throw FileError("nothing to read");
  });
  CHECK(thrown.kind == "InputError");
  CHECK(thrown.message == with_rank(comm, 0, "nothing to read"));
}

TEST_CASE("together: all ranks may fail alike, and the communicator works afterwards") {
  const Communicator comm(MPI_COMM_WORLD);
  for (int again = 0; again < 3; ++again) {
    const Thrown thrown = thrown_by(comm, [] { throw std::runtime_error(std::string(5000, 'y')); });
    CHECK(thrown.kind == "Error");
    CHECK(thrown.message == std::string(5000, 'y'));
    CHECK(comm.sum(Index{1}) == comm.size());
  }
}

TEST_CASE("messages of the caller and of zhalo do not meet") {
  const Communicator comm(MPI_COMM_WORLD);
  const Communicator other(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  Index mine = 1;
  Index all = 0;
  MPI_Iallreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
  CHECK(comm.sum(Index{10}) == 10 * comm.size());
  CHECK(other.sum(Index{100}) == 100 * comm.size());
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(all == comm.size());
}

TEST_CASE("an error in a part of the ranks names the rank by its number among all, once") {
  const Communicator world(MPI_COMM_WORLD);
  const int last = world.size() - 1;
  const bool is_part_of_part = GENERATE(false, true);
  std::string message;
  try {
    world.together([&] {
      Communicator part = world.split(world.rank() == 0 ? 0 : 1);
      if (is_part_of_part) part = part.split(7);
      part.together([&] {
        if (world.rank() == last) throw InputError("nothing to read");
      });
    });
  } catch (const InputError& error) {
    message = error.what();
  }
  const std::string rank = world.size() > 1 ? "rank " + std::to_string(last) + ": " : "";
  CHECK(message == rank + "nothing to read");
}

TEST_CASE("a communicator can be a part of the ranks, and moves") {
  const Communicator world(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank() % 2, world.rank(), &half);
  Communicator comm(half);
  MPI_Comm_free(&half);
  const Index expected = (world.size() + 1 - world.rank() % 2) / 2;
  CHECK(comm.sum(Index{1}) == expected);
  Communicator moved(std::move(comm));
  CHECK(comm.size() == 1);
  CHECK(moved.size() == expected);
  comm = std::move(moved);
  CHECK(comm.sum(Index{1}) == expected);
  comm = Communicator();
  CHECK(comm.size() == 1);
}

TEST_CASE("a timeout that is no number of seconds is an error on all ranks") {
  const Communicator world(MPI_COMM_WORLD);
  const bool is_last = world.rank() == world.size() - 1;
  const char* const given = std::getenv("ZHALO_TIMEOUT");
  const std::string before = given == nullptr ? "1800" : given;
  for (const std::string text : {"", "soon", "10s", "-1", "nan"}) {
    if (is_last) setenv("ZHALO_TIMEOUT", text.c_str(), 1);
    CHECK_THROWS_WITH(Communicator(MPI_COMM_WORLD),
                      Catch::Contains("ZHALO_TIMEOUT is '" + text + "' (must be a number"));
  }
  for (const char* text : {"2.5e3", "0"}) {
    if (is_last) setenv("ZHALO_TIMEOUT", text, 1);
    CHECK_NOTHROW(Communicator(MPI_COMM_WORLD));
  }
  setenv("ZHALO_TIMEOUT", before.c_str(), 1);
  CHECK_THROWS_WITH(Communicator(MPI_COMM_WORLD, {.timeout_seconds = is_last ? NAN : 5}),
                    Catch::Contains("the timeout is NaN"));
}
