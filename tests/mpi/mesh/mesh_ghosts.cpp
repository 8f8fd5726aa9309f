/// Ghost layers: pulled, pushed, of any width.
#include "tests/mpi/comm/failing_context.hpp"
#include "tests/mpi/mesh/mesh_case.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

/// All decompositions of a grid with all kinds of ghosts that are worth a look.
template <class Check>
void for_cases(const Context& context, const std::vector<Grid>& grids,
               const std::vector<Ghosts>& kinds, const Check& check) {
  for (const Grid& grid : grids) {
    for (const std::array<int, 2>& shape : shapes_of(context.comm.size())) {
      for (const Ghosts& ghosts : kinds) {
        INFO(grid.num[0] << " x " << grid.num[1] << " x " << grid.num[2] << " cells on " << shape[0]
                         << " x " << shape[1] << " ranks, ghosts " << ghosts.below[0] << " "
                         << ghosts.below[1] << " " << ghosts.below[2] << " below, "
                         << ghosts.above[0] << " " << ghosts.above[1] << " " << ghosts.above[2]
                         << " above, periodic " << ghosts.periodic[0] << ghosts.periodic[1]
                         << ghosts.periodic[2]);
        check(Decomposition(grid, context.comm.size(), {.shape = shape}), ghosts);
      }
    }
  }
}

/// Some of all: none, narrow, as wide as shares and as the grid and more, on one side only, on some
/// axes only, not periodic.
std::vector<Ghosts> kinds_of_ghosts() {
  std::vector<Ghosts> kinds;
  for (const Index width : {0, 1, 2, 3, 6}) kinds.push_back(Ghosts::all_around(width));
  kinds.push_back({{{1, 0, 2}}, {{0, 3, 1}}});
  kinds.push_back({{{0, 0, 0}}, {{1, 1, 1}}});
  kinds.push_back({{{5, 0, 0}}, {{0, 0, 0}}});
  kinds.push_back({{{0, 13, 0}}, {{2, 0, 0}}});
  kinds.push_back({{{0, 0, 4}}, {{0, 0, 17}}});
  kinds.push_back({{{2, 2, 2}}, {{2, 2, 2}}, {{false, false, false}}});
  kinds.push_back({{{3, 1, 9}}, {{2, 7, 1}}, {{true, false, true}}});
  kinds.push_back({{{8, 8, 1}}, {{8, 0, 1}}, {{false, true, false}}});
  return kinds;
}

const std::vector<Grid> small_grids = {grid_of(6, 5, 4), grid_of(2, 3, 1), grid_of(7, 2, 3)};

}  // namespace

TEST_CASE("ghosts: pulled, they are the cells of the periodic grid, corners included") {
  const Context context = make_context();
  for_cases(context, small_grids, kinds_of_ghosts(),
            [&](const Decomposition& decomposition, const Ghosts& ghosts) {
              check_pull<Index>(context, decomposition, ghosts);
            });
}

TEST_CASE("ghosts: wide ones, of a larger grid") {
  const Context context = make_context();
  const std::vector<Ghosts> kinds = {
      Ghosts::all_around(2), Ghosts::all_around(16), {{{33, 1, 2}}, {{1, 20, 3}}}};
  for_cases(context, {grid_of(16, 17, 12)}, kinds,
            [&](const Decomposition& decomposition, const Ghosts& ghosts) {
              check_pull<double>(context, decomposition, ghosts);
              check_adjoint(context, decomposition, ghosts);
            });
}

TEST_CASE("ghosts: pushed, they are added in the documented order and set to 0") {
  const Context context = make_context();
  for_cases(context, small_grids, kinds_of_ghosts(),
            [&](const Decomposition& decomposition, const Ghosts& ghosts) {
              check_push<double>(context, decomposition, ghosts);
              check_push<std::complex<double>>(context, decomposition, ghosts);
            });
}

TEST_CASE("ghosts: index boxes of many elements are pushed by several threads in the same order") {
  Context context = make_context();
  context.exec = host_exec(4);
  const Decomposition decomposition(grid_of(40, 36, 30), context.comm.size());
  check_push<double>(context, decomposition, Ghosts::all_around(20));
}

TEST_CASE("ghosts: a push is the adjoint of a pull") {
  const Context context = make_context();
  for_cases(context, small_grids, kinds_of_ghosts(),
            [&](const Decomposition& decomposition, const Ghosts& ghosts) {
              check_adjoint(context, decomposition, ghosts);
            });
}

TEST_CASE("ghosts: of a grid of one cell") {
  const Context context = make_context();
  const std::vector<Ghosts> kinds = {Ghosts::all_around(1),
                                     {{{2, 0, 1}}, {{3, 1, 0}}},
                                     {{{2, 2, 2}}, {{1, 1, 1}}, {{false, true, false}}}};
  for_cases(context, {Grid::cube(1)}, kinds,
            [&](const Decomposition& decomposition, const Ghosts& ghosts) {
              check_pull<Index>(context, decomposition, ghosts);
              check_push<double>(context, decomposition, ghosts);
              check_adjoint(context, decomposition, ghosts);
            });
}

TEMPLATE_TEST_CASE("ghosts: of every type", "", std::int32_t, Index, float, double,
                   std::complex<float>, std::complex<double>) {
  Context context = make_context();
  context.exec = host_exec(2);
  const std::vector<Ghosts> kinds = {Ghosts::all_around(1),
                                     {{{3, 1, 9}}, {{2, 7, 1}}, {{true, false, true}}}};
  for_cases(context, {grid_of(6, 5, 4)}, kinds,
            [&](const Decomposition& decomposition, const Ghosts& ghosts) {
              check_pull<TestType>(context, decomposition, ghosts);
              check_push<TestType>(context, decomposition, ghosts);
            });
}

TEST_CASE("ghosts: in short messages, and staged") {
  CommunicatorOptions options;
  options.chunk_bytes = 1000;
  SECTION("as it is") {}
  SECTION("staged") { options.transport = Transport::staged; }
  const Context context = make_context(options);
  const std::vector<Ghosts> kinds = {Ghosts::all_around(2),
                                     {{{3, 1, 9}}, {{2, 7, 1}}, {{true, false, true}}}};
  for_cases(context, {grid_of(9, 10, 7)}, kinds,
            [&](const Decomposition& decomposition, const Ghosts& ghosts) {
              check_pull<std::complex<float>>(context, decomposition, ghosts);
              check_push<double>(context, decomposition, ghosts);
            });
}

TEST_CASE("ghosts: a push that one rank has stopped may be made again") {
  FailingContext failing;
  const Context& context = failing.context();
  Field<double> field(context, Decomposition(Grid::cube(8), context.comm.size()),
                      Ghosts::all_around(2));
  const int culprit = context.comm.size() / 2;
  const auto fill = [&] {
    double value = context.comm.rank();
    for (double& cell : field.span()) cell = value += 1;
  };
  const auto push = [&] {
    field.push_ghosts();
    return std::vector<double>(field.span().begin(), field.span().end());
  };
  fill();
  const std::vector<double> expected = failing.counted(push);
  const int num_calls = failing.num_made_by(culprit);
  for (int at = 1; at <= num_calls; ++at) {
    INFO("collective " << at << " of " << num_calls);
    fill();
    const std::string message = failing.message_at(culprit, at, push);
    CHECK(message.find("no room before") != std::string::npos);
    CHECK(push() == expected);
  }
}

TEST_CASE("ghosts: what one rank asks for differently, all ranks are told") {
  const Context context = make_context();
  const int size = context.comm.size();
  const bool is_last = context.comm.rank() == size - 1;
  const Decomposition d(Grid::cube(8), size);
  CHECK_THROWS_AS(Field<float>(context, d, Ghosts::all_around(is_last ? -1 : 1)), InputError);
  CHECK_THROWS_WITH(Field<float>(context, d, Ghosts::all_around(is_last ? -1 : 1)),
                    Contains("-1 layers of ghosts along x"));
  CHECK_THROWS_AS(Field<float>(context, Decomposition(Grid::cube(8), size + 1)), InputError);
  if (size == 1) return;
  CHECK_THROWS_WITH(Field<float>(context, d, Ghosts::all_around(is_last ? 2 : 1)),
                    Contains("differ between ranks"));
  const Decomposition of_box(Grid::cube(8, is_last ? 2 : 1), size);
  CHECK_THROWS_WITH(Field<float>(context, of_box), Contains("differ between ranks"));
  CHECK_NOTHROW(Field<float>(context, d, Ghosts::all_around(1)));
}
