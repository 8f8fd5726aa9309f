/// Fields and redistribute() of one rank without MPI: what is refused, and what needs no other
/// rank.
#include "zhalo/mesh/field.hpp"

#include <catch2/catch.hpp>

#include "zhalo/core/error.hpp"
#include "zhalo/fft/decomposition.hpp"
#include "zhalo/mesh/paint.hpp"

namespace {

using namespace zhalo;
using Catch::Contains;

const Context context;
const Decomposition alone(Grid::cube(4), 1);

/// redistribute() of arrays of these sizes.
void move(const FieldLayout& from, Index from_size, const FieldLayout& to, Index to_size) {
  const std::vector<int> source(static_cast<std::size_t>(from_size));
  std::vector<int> target(static_cast<std::size_t>(to_size));
  redistribute(context, from, Span<const int>(source), to, Span<int>(target));
}

}  // namespace

TEST_CASE("Field: bad input") {
  const Decomposition two(Grid::cube(4), 2);
  CHECK_THROWS_WITH(Field<double>(context, two), Contains("as for 2 ranks, but there are 1"));
  Ghosts ghosts;
  ghosts.below[1] = -1;
  CHECK_THROWS_AS(Field<double>(context, alone, ghosts), InputError);
  CHECK_THROWS_WITH(Field<double>(context, alone, ghosts),
                    Contains("-1 layers of ghosts along y (must be 0"));
  ghosts.below[1] = Index{1} << 60;
  CHECK_THROWS_WITH(Field<double>(context, alone, ghosts),
                    Contains("along y (must be 0 or more, and less than 2^60)"));
  CHECK_THROWS_WITH(Field<double>(context, alone, Ghosts::all_around(Index{1} << 30)),
                    Contains("cannot be counted in 62 bits"));
  CHECK_THROWS_AS(Field<double>(context, alone, Ghosts::all_around(Index{1} << 18)), OutOfMemory);
}

TEST_CASE("Field: moves, with its values") {
  Field<float> a(context, alone, Ghosts::all_around(1));
  for (float& value : a.span()) value = 2;
  Field<float> b(std::move(a));
  Field<float> c(context, alone);
  CHECK(c.span().size() == 64);
  CHECK(c.layout() == alone.cells_layout(0));
  c = std::move(b);
  CHECK(c.span().size() == 216);
  CHECK(c.cells() == Grid::cube(4).index_box());
  c.push_ghosts();
  CHECK(c.span()[c.layout().offset({{0, 0, 0}})] ==
        16);  // itself and the ghosts of its 7 images in reach
  CHECK(c.span()[c.layout().offset({{1, 2, 1}})] == 2);
  c.pull_ghosts();
  CHECK(c.span()[c.layout().offset({{4, -1, 4}})] == 16);
}

TEST_CASE("Field: one that has been moved from is refused") {
  Field<float> a(context, alone, Ghosts::all_around(1));
  const Field<float> b(std::move(a));
  const Particles<float> none;
  CHECK_THROWS_WITH(a.pull_ghosts(), Contains("has been moved from"));
  CHECK_THROWS_WITH(a.push_ghosts(), Contains("has been moved from"));
  CHECK_THROWS_WITH(paint(context, none, a), Contains("has been moved from"));
  CHECK_THROWS_WITH(readout(context, a, none), Contains("has been moved from"));
}

TEST_CASE("redistribute: bad input") {
  const FieldLayout cells = FieldLayout::of_cells(alone);
  const FieldLayout two = FieldLayout::of_cells(Decomposition(Grid::cube(4), 2));
  CHECK_NOTHROW(move(cells, 64, cells, 64));
  CHECK_THROWS_AS(move(two, 64, cells, 64), InputError);
  CHECK_THROWS_WITH(move(two, 64, cells, 64), Contains("moved from has 2 index boxes for 1 ranks"));
  CHECK_THROWS_WITH(move(cells, 64, two, 64), Contains("moved to has 2 index boxes for 1 ranks"));
  CHECK_THROWS_WITH(
      move(cells, 63, cells, 64),
      Contains("the field that is moved has 63 elements") && Contains("index box has 64"));
  CHECK_THROWS_WITH(move(cells, 64, cells, 65),
                    Contains("the field that it is moved to has 65 elements"));
  FieldLayout wide = cells;
  wide.layout[0].stride = {{17, 4, 1}};
  CHECK_THROWS_WITH(move(cells, 64, wide, 64),
                    Contains("reaches from element 0 to 66, but has 64"));
  wide.layout[0].stride = {{16, -4, 1}};
  CHECK_THROWS_AS(move(wide, 64, cells, 64), InputError);

  std::vector<int> values(128);
  CHECK_THROWS_WITH(redistribute(context, cells, Span<const int>(values.data(), 64), cells,
                                 Span<int>(values.data() + 63, 64)),
                    Contains("cannot be done in place"));
  CHECK_NOTHROW(redistribute(context, cells, Span<const int>(values.data(), 64), cells,
                             Span<int>(values.data() + 64, 64)));
  const Span<std::byte> to(reinterpret_cast<std::byte*>(values.data() + 64), 256);
  CHECK_THROWS_WITH(redistribute_bytes(context, cells, {values.data(), 64, 0}, cells, to),
                    Contains("have 0 bytes"));
  CHECK_THROWS_WITH(
      redistribute_bytes(context, cells, {values.data(), 64, 4}, cells, to.subspan(0, 255)),
      Contains("255 bytes is to hold elements of 4 bytes"));
  CHECK_THROWS_WITH(redistribute_bytes(context, cells, {values.data(), 64, 4, 8}, cells, to),
                    Contains("has gaps: its elements of 4 bytes are 8 bytes apart"));
  CHECK_THROWS_WITH(redistribute_bytes(context, cells, {nullptr, 64, 4}, cells, to),
                    Contains("has no memory"));
}
