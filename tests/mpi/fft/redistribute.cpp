/// Fields that are moved from one decomposition to another.
#include "tests/mpi/comm/late_context.hpp"
#include "tests/mpi/mesh/mesh_case.hpp"
#include "zhalo/core/error.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("redistribute: from any layout to any other") {
  const Context context = make_context();
  check_redistributions(context, grid_of(30, 17, 44));
}

TEST_CASE("redistribute: small grids, with fewer planes than ranks") {
  const Context context = make_context();
  for (const Grid& grid : {Grid::cube(1), Grid::cube(2), Grid::cube(5), Grid::cube(7),
                           grid_of(1, 7, 2), grid_of(5, 1, 3)})
    check_redistributions(context, grid);
}

TEST_CASE("redistribute: in short messages, and staged") {
  CommunicatorOptions options;
  options.chunk_bytes = 1000;
  SECTION("as it is") {}
  SECTION("staged") { options.transport = Transport::staged; }
  const Context context = make_context(options);
  check_redistributions(context, grid_of(7, 10, 12));
}

TEST_CASE("redistribute: with several threads") {
  Context context = make_context();
  context.exec = host_exec(3);
  check_redistributions(context, grid_of(30, 17, 44));
}

TEST_CASE("redistribute: what one rank does wrong, all ranks are told") {
  const Context context = make_context();
  const int size = context.comm.size();
  const bool is_last = context.comm.rank() == size - 1;
  const Decomposition d(Grid::cube(8), size, {.split = Split::slab});
  const FieldLayout cells = FieldLayout::of_cells(d);
  const BoxLayout own = d.cells_layout(context.comm.rank());
  const auto move = [&](const FieldLayout& from, Index extra) {
    const std::vector<int> source(static_cast<std::size_t>(own.size + extra));
    std::vector<int> target(static_cast<std::size_t>(own.size));
    redistribute(context, from, Span<const int>(source), cells, Span<int>(target));
  };
  CHECK_THROWS_AS(move(cells, is_last ? 1 : 0), InputError);
  CHECK_THROWS_WITH(move(cells, is_last ? 1 : 0),
                    Contains("but the layout of this rank's index box has"));
  CHECK_NOTHROW(move(cells, 0));
  FieldLayout too_small = cells;  // by one element, which the strides reach
  --too_small.layout.back().size;
  CHECK_THROWS_WITH(move(too_small, is_last ? -1 : 0), Contains("reaches from element 0 to"));

  if (size == 1) return;
  FieldLayout overlapping = cells;
  const IndexBox& first = overlapping.layout[0].index_box;
  overlapping.layout[1] = layout_of({{{first.hi[0] - 1, 0, 0}}, {{first.hi[0], 8, 8}}});
  const Index size_here = overlapping.layout[static_cast<std::size_t>(context.comm.rank())].size;
  CHECK_THROWS_AS(move(overlapping, size_here - own.size), InputError);
  CHECK_THROWS_WITH(move(overlapping, size_here - own.size),
                    Contains("index boxes of ranks 0 and 1 overlap"));
  // A different idea of someone else's index box.
  FieldLayout other = cells;
  if (is_last) other.layout[0] = layout_of(IndexBox{});
  CHECK_THROWS_WITH(move(other, 0), Contains("differ between ranks"));
  CHECK_THROWS_AS(move(FieldLayout::of_cells(Decomposition(Grid::cube(8), size + 1)), 0),
                  InputError);
  // Elements of another size.
  const auto move_like = [&]<class T>(const T& element) {
    const std::vector<T> source(static_cast<std::size_t>(own.size), element);
    std::vector<T> target(source.size());
    redistribute(context, cells, Span<const T>(source), cells, Span<T>(target));
  };
  CHECK_THROWS_WITH(is_last ? move_like(1.0) : move_like(1), Contains("differ between ranks"));
}
