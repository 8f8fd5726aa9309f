/// Who owns what: every cell and mode once, as even as can be.
#include "zhalo/fft/decomposition.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "zhalo/core/error.hpp"
#include "zhalo/core/memory_need.hpp"

namespace {

using namespace zhalo;
using Catch::Contains;
using Catch::Equals;

Grid grid_of(Index x, Index y, Index z) { return {{{x, y, z}}, Box::periodic_cube(1)}; }

const Grid grids[] = {grid_of(1, 1, 1), grid_of(2, 2, 2),   grid_of(5, 5, 5),
                      grid_of(7, 3, 8), grid_of(8, 1, 6),   grid_of(1, 9, 2),
                      grid_of(2, 1, 7), grid_of(13, 11, 4), grid_of(30, 17, 5)};
const int numbers_of_ranks[] = {1, 2, 3, 4, 6, 7, 12, 16, 40};

std::vector<std::array<int, 2>> shapes_of(int num_ranks) {
  std::vector<std::array<int, 2>> shapes;
  for (int rows = 1; rows <= num_ranks; ++rows) {
    if (num_ranks % rows == 0) shapes.push_back({rows, num_ranks / rows});
  }
  return shapes;
}

/// index_box(rank) of all ranks fill [0, num), each index once, and owner(index) says whose it is.
template <class BoxOf, class OwnerOf>
bool is_covered_once(const GridIndex& num, int num_ranks, const BoxOf& index_box,
                     const OwnerOf& owner) {
  std::vector<int> owner_of(static_cast<std::size_t>(num[0] * num[1] * num[2]), -1);
  bool once = true;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const IndexBox own = index_box(rank);
    for (Index x = own.lo[0]; x < own.hi[0]; ++x) {
      for (Index y = own.lo[1]; y < own.hi[1]; ++y) {
        for (Index z = own.lo[2]; z < own.hi[2]; ++z) {
          const bool inside = x >= 0 && y >= 0 && z >= 0 && x < num[0] && y < num[1] && z < num[2];
          if (!inside) return false;
          int& first = owner_of[static_cast<std::size_t>((x * num[1] + y) * num[2] + z)];
          once = once && first == -1 && owner(GridIndex{{x, y, z}}) == rank;
          first = rank;
        }
      }
    }
  }
  return once && std::count(owner_of.begin(), owner_of.end(), -1) == 0;
}

/// Lengths along an axis differ by at most one between ranks.
template <class BoxOf>
bool is_even(int axis, int num_ranks, const BoxOf& index_box) {
  Index smallest = std::numeric_limits<Index>::max();
  Index largest = 0;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const IndexBox own = index_box(rank);
    smallest = std::min(smallest, std::max<Index>(0, own.hi[axis] - own.lo[axis]));
    largest = std::max(largest, own.hi[axis] - own.lo[axis]);
  }
  return largest - smallest <= 1;
}

template <class Check>
void for_decompositions(const Check& check) {
  for (const Grid& grid : grids) {
    for (const int num_ranks : numbers_of_ranks) {
      for (const std::array<int, 2>& shape : shapes_of(num_ranks)) {
        INFO(shape[0] << " x " << shape[1] << " ranks, " << grid.num[0] << " x " << grid.num[1]
                      << " x " << grid.num[2]);
        check(Decomposition(grid, num_ranks, {.shape = shape}));
      }
    }
  }
}

constexpr Spectrum spectra[] = {Spectrum::half, Spectrum::full};
constexpr ModeOrder mode_orders[] = {ModeOrder::transposed, ModeOrder::natural};

}  // namespace

TEST_CASE("Decomposition: every cell has one owner, in rows and columns of ranks") {
  for_decompositions([](const Decomposition& d) {
    const auto index_box = [&](int rank) { return d.cells(rank); };
    CHECK(is_covered_once(d.grid().num, d.num_ranks(), index_box,
                          [&](const GridIndex& cell) { return d.owner_of_cell(cell); }));
    bool as_documented = true;
    for (int rank = 0; rank < d.num_ranks(); ++rank) {
      const IndexBox own = d.cells(rank);
      as_documented = as_documented && d.rank_at(d.row_of(rank), d.column_of(rank)) == rank;
      as_documented = as_documented && own.lo[2] == 0 && own.hi[2] == d.grid().num[2];
      as_documented = as_documented && own.lo[0] == d.cells(d.rank_at(d.row_of(rank), 0)).lo[0];
      as_documented = as_documented && own.lo[1] == d.cells(d.rank_at(0, d.column_of(rank))).lo[1];
      as_documented = as_documented && d.cells_layout(rank) == layout_of(own);
    }
    CHECK(as_documented);
    for (int axis = 0; axis < 3; ++axis) CHECK(is_even(axis, d.num_ranks(), index_box));
  });
}

TEST_CASE("Decomposition: every mode has one owner, in either order") {
  for_decompositions([](const Decomposition& d) {
    for (const Spectrum spectrum : spectra) {
      GridIndex num = d.grid().num;
      if (spectrum == Spectrum::half) num[2] = num[2] / 2 + 1;
      CHECK(d.num_modes(spectrum) == num);
      for (const ModeOrder order : mode_orders) {
        const auto index_box = [&](int rank) { return d.modes(rank, spectrum, order); };
        const auto owner = [&](const GridIndex& mode) {
          return d.owner_of_mode(mode, spectrum, order);
        };
        CHECK(is_covered_once(num, d.num_ranks(), index_box, owner));
        for (int axis = 0; axis < 3; ++axis) CHECK(is_even(axis, d.num_ranks(), index_box));
      }
    }
  });
}

TEST_CASE("MeshSize: memory is that of the rank with most") {
  for_decompositions([](const Decomposition& d) {
    Index max_cells = 0;
    Index max_modes = 0;
    for (int rank = 0; rank < d.num_ranks(); ++rank) {
      max_cells = std::max(max_cells, d.cells(rank).size());
      max_modes = std::max(max_modes, d.modes(rank, Spectrum::half, ModeOrder::transposed).size());
    }
    MeshSize mesh{d.grid().num, d.num_ranks(), false, d.shape()};
    const double modes = modes_bytes(mesh);
    const double field = field_bytes(mesh);
    CHECK(modes >= 8 * static_cast<double>(max_modes));
    mesh.double_values = true;
    CHECK(field_bytes(mesh) - field == 4 * static_cast<double>(max_cells));
    if (d.shape()[1] > 1) return;
    mesh.shape = {};
    CHECK(modes_bytes(mesh) == 2 * modes);
  });
}

TEST_CASE("Decomposition: modes lie as documented") {
  for_decompositions([](const Decomposition& d) {
    for (int rank = 0; rank < d.num_ranks(); ++rank) {
      const IndexBox transposed = d.modes(rank, Spectrum::full);
      const IndexBox natural = d.modes(rank, Spectrum::full, ModeOrder::natural);
      REQUIRE((transposed.lo[0] == 0 && transposed.hi[0] == d.grid().num[0]));
      REQUIRE((natural.lo[1] == 0 && natural.hi[1] == d.grid().num[1]));
      const AxisOrder order = d.shape()[0] == 1 ? AxisOrder{0, 1, 2} : AxisOrder{1, 0, 2};
      REQUIRE(d.modes_layout(rank, Spectrum::full) == layout_of(transposed, order));
      REQUIRE(d.modes_layout(rank, Spectrum::full, ModeOrder::natural) == layout_of(natural));
    }
  });
}

TEST_CASE("modelled_seconds: as documented, for the ranks that have most") {
  for_decompositions([](const Decomposition& d) {
    // The rank that has most, found among all ranks.
    double rows = 0;
    double pencils = 0;
    double modes = 0;
    const Index num_z = d.grid().num[2] / 2 + 1;
    for (int rank = 0; rank < d.num_ranks(); ++rank) {
      const IndexBox cells = d.cells(rank);
      rows = std::max(rows, static_cast<double>(cells.length(0) * cells.length(1) * num_z));
      pencils = std::max(
          pencils, static_cast<double>(d.modes(rank, Spectrum::half, ModeOrder::natural).size()));
      modes = std::max(modes, static_cast<double>(d.modes(rank, Spectrum::half).size()));
    }
    const double num_rows = d.shape()[0];
    const double num_columns = d.shape()[1];
    const double sent = 16 * (rows * (1 - 1 / num_columns) + pencils * (1 - 1 / num_rows));
    const double messages = num_rows - 1 + num_columns - 1;
    const double seconds =
        2 * std::max({rows, pencils, modes}) * 5e-9 + sent / 2e9 + messages * 5e-6;
    CHECK(modelled_seconds(d.grid(), d.shape()) == Approx(seconds).epsilon(1e-12));
  });
}

TEST_CASE(
    "Decomposition: the automatic shape has the least modelled seconds; slabs and pencils on "
    "demand") {
  const Grid large[] = {Grid::cube(64), Grid::cube(512), grid_of(1000, 3, 3), grid_of(3, 1000, 64),
                        grid_of(16, 16, 4096)};
  std::vector<Grid> all(std::begin(grids), std::end(grids));
  all.insert(all.end(), std::begin(large), std::end(large));
  bool any_pencil = false;
  for (const Grid& grid : all) {
    for (const int num_ranks : {1, 2, 3, 4, 6, 7, 12, 16, 40, 60, 512}) {
      const Decomposition chosen(grid, num_ranks);
      const Decomposition slab(grid, num_ranks, {.split = Split::slab});
      const Decomposition pencil(grid, num_ranks, {.split = Split::pencil});
      REQUIRE(chosen.num_ranks() == num_ranks);
      CHECK(slab.shape() == std::array<int, 2>{num_ranks, 1});
      bool has_pencils = false;
      for (const std::array<int, 2>& shape : shapes_of(num_ranks)) {
        CHECK(modelled_seconds(grid, chosen.shape()) <= modelled_seconds(grid, shape));
        if (shape[0] == 1 || shape[1] == 1) continue;
        has_pencils = true;
        CHECK(modelled_seconds(grid, pencil.shape()) <= modelled_seconds(grid, shape));
      }
      if (has_pencils) CHECK((pencil.shape()[0] > 1 && pencil.shape()[1] > 1));
      any_pencil = any_pencil || chosen.shape()[1] > 1;
    }
  }
  CHECK(any_pencil);
}

TEST_CASE("Decomposition: ranks may own nothing") {
  const Decomposition d(Grid::cube(3), 7, {.split = Split::slab});
  Index owners = 0;
  for (int rank = 0; rank < 7; ++rank) {
    owners += d.cells(rank).empty() ? 0 : 1;
    CHECK(d.cells_layout(rank).size == d.cells(rank).size());
  }
  CHECK(owners == 3);
  const Decomposition automatic(Grid::cube(1), 5);
  CHECK(automatic.owner_of_cell({{0, 0, 0}}) == 0);
  CHECK(automatic.cells(4).empty());
}

TEST_CASE("Decomposition: says what it is") {
  CHECK(Decomposition(Grid::cube(512), 4, {.split = Split::slab}).describe() ==
        "slab 4 x 1 of 512 x 512 x 512");
  CHECK(Decomposition(grid_of(5, 6, 7), 6, {.shape = {3, 2}}).describe() ==
        "pencil 3 x 2 of 5 x 6 x 7");
  CHECK(Decomposition(grid_of(5, 6, 7), 6, {.shape = {3, 2}}) ==
        Decomposition(grid_of(5, 6, 7), 6, {.shape = {3, 2}}));
  CHECK_FALSE(Decomposition(grid_of(5, 6, 7), 6, {.shape = {3, 2}}) ==
              Decomposition(grid_of(5, 6, 7), 6, {.shape = {2, 3}}));
}

TEST_CASE("Decomposition: bad input") {
  CHECK_THROWS_WITH(Decomposition(grid_of(4, 0, 4), 1),
                    Equals("the grid has 0 cells along y (must be at least 1)"));
  CHECK_THROWS_WITH(Decomposition(grid_of(4, 4, -1), 1), Contains("-1 cells along z"));
  CHECK_THROWS_WITH(Decomposition(Grid::cube(Index{1} << 21), 1),
                    Contains("cannot be counted in 62 bits"));
  CHECK_NOTHROW(Decomposition(grid_of(Index{1} << 21, Index{1} << 21, Index{1} << 20), 1,
                              {.split = Split::slab}));
  CHECK_THROWS_WITH(Decomposition(Grid::cube(4), 0), Contains("0 ranks (must be at least 1)"));
  CHECK_THROWS_WITH(Decomposition(Grid::cube(4), 6, {.shape = {4, 2}}),
                    Contains("4 x 2") && Contains("the 6 ranks"));
  CHECK_THROWS_AS(Decomposition(Grid::cube(4), 6, {.shape = {6, 0}}), InputError);
  CHECK_THROWS_AS(Decomposition(Grid::cube(4), 6, {.shape = {-2, -3}}), InputError);
  CHECK_THROWS_AS(Decomposition(Grid::cube(4), 65536, {.shape = {65536, 65537}}), InputError);
  const auto none = Contains("which is no enumerator");
  CHECK_THROWS_WITH(Decomposition(Grid::cube(4), 6, {.split = static_cast<Split>(3)}), none);
  const Decomposition fine(Grid::cube(4), 6);
  const auto spectrum = static_cast<Spectrum>(2);
  const auto order = static_cast<ModeOrder>(-1);
  CHECK_THROWS_WITH(fine.num_modes(spectrum), none);
  CHECK_THROWS_WITH(fine.modes(0, Spectrum::half, order), none);
  CHECK_THROWS_WITH(fine.owner_of_mode({}, Spectrum::half, order), none);
}

TEST_CASE("Decomposition: cells and modes outside the grid have no owner") {
  const Decomposition d(grid_of(3, 4, 5), 6, {.shape = {3, 2}});
  for (int axis = 0; axis < 3; ++axis) {
    for (const Index outside : {Index{-1}, d.grid().num[axis], Index{1} << 40}) {
      GridIndex index;
      index[axis] = outside;
      CHECK_THROWS_AS(d.owner_of_cell(index), InputError);
      CHECK_THROWS_AS(d.owner_of_mode(index, Spectrum::full), InputError);
      CHECK_THROWS_AS(d.owner_of_mode(index, Spectrum::half, ModeOrder::natural), InputError);
    }
  }
  CHECK_THROWS_WITH(d.owner_of_cell({{0, 4, -1}}),
                    Equals("cell (0, 4, -1) is not among the 3 x 4 x 5 cells of the grid (along "
                           "each axis they count from 0)"));
  CHECK(d.owner_of_mode({{2, 3, 2}}, Spectrum::half) == 5);
  CHECK_THROWS_WITH(d.owner_of_mode({{2, 3, 3}}, Spectrum::half),
                    Contains("mode (2, 3, 3) is not among the 3 x 4 x 3 modes"));
  const Decomposition with_idle_ranks(Grid::cube(1), 5);
  CHECK_THROWS_AS(with_idle_ranks.owner_of_cell({{1, 0, 0}}), InputError);
}

TEST_CASE("Decomposition: the cell that holds a position") {
  for (const double length : {1.0, 100.0, 0.3, 3.7e5, 1e26}) {
    for (const Index n : {1, 2, 3, 5, 7, 10, 33, 64, 1000, 1 << 20}) {
      INFO(n << " cells in " << length);
      const Decomposition d(Grid::cube(n, length), 1);
      const auto cell = [&](double x) { return d.cell_of({{x, 0, 0}})[0]; };
      CHECK(cell(0) == 0);
      CHECK(cell(-0.0) == 0);
      CHECK(cell(length) == 0);
      CHECK(cell(std::nextafter(length, 0)) == n - 1);
      CHECK(cell(std::nextafter(0.0, 1)) == 0);
      CHECK(cell(-length) == 0);
      for (const Index i : {Index{0}, n / 2, n - 1}) {
        const double middle = (static_cast<double>(i) + 0.5) * (length / static_cast<double>(n));
        CHECK(cell(middle) == i);
        CHECK(cell(middle + length) == i);
        CHECK(cell(middle - 2 * length) == i);
      }
      const Index just_below =
          cell(-length * 1e-18);  // what wraps to the box's end may round to it
      CHECK((just_below == n - 1 || just_below == 0));
    }
  }
}

TEST_CASE(
    "Decomposition: positions beyond an edge that is not periodic belong to the nearest cell") {
  Grid grid = grid_of(4, 6, 8);
  grid.box.lo = {{-1, 10, 0}};
  grid.box.length = {{2, 6, 4}};
  grid.box.periodic = {{false, true, false}};
  const Decomposition d(grid, 6, {.shape = {2, 3}});
  CHECK(d.cell_of({{-1, 10, 0}}) == GridIndex{{0, 0, 0}});
  CHECK(d.cell_of({{-7, 9.5, -1e300}}) == GridIndex{{0, 5, 0}});
  CHECK(d.cell_of({{1, 16, 4}}) == GridIndex{{3, 0, 7}});
  CHECK_THROWS_AS(d.cell_of({{std::nan(""), 1, 1}}), InputError);
  CHECK_THROWS_AS(d.owner_of({{1, 1, -std::numeric_limits<double>::infinity()}}), InputError);
  Grid without_length = grid;
  for (const double length : {0.0, -2.0, std::nan("")}) {
    without_length.box.length[1] = length;
    CHECK_THROWS_AS(Decomposition(without_length, 6).cell_of({{1, 10, 1}}), InputError);
  }
  CHECK(d.cell_of({{9, 12.5, 3.999}}) == GridIndex{{3, 2, 7}});
  CHECK(d.cell_of({{-0.25, 15.5, 1.25}}) == GridIndex{{1, 5, 2}});
  CHECK(d.owner_of({{-0.25, 15.5, 1.25}}) == d.owner_of_cell({{1, 5, 2}}));
  CHECK(d.owner_of({{-0.25, 15.5, 1.25}}) == 2);
  CHECK(d.grid().spacing(0) == 0.5);
}
