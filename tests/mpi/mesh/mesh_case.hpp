/// Fields whose elements say which cell they belong to, moved and checked cell by cell.
#pragma once

#include <catch2/catch.hpp>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/random.hpp"
#include "zhalo/core/buffer.hpp"
#include "zhalo/fft/decomposition.hpp"
#include "zhalo/mesh/field.hpp"

namespace zhalo::testing {

inline Grid grid_of(Index x, Index y, Index z) { return {{{x, y, z}}, Box::periodic_cube(1)}; }

template <class Visit>
void for_cells(const IndexBox& index_box, const Visit& visit) {
  for (Index x = index_box.lo[0]; x < index_box.hi[0]; ++x) {
    for (Index y = index_box.lo[1]; y < index_box.hi[1]; ++y) {
      for (Index z = index_box.lo[2]; z < index_box.hi[2]; ++z) visit(GridIndex{{x, y, z}});
    }
  }
}

/// Numbers of (rows, columns) whose product is the number of ranks.
inline std::vector<std::array<int, 2>> shapes_of(int num_ranks) {
  std::vector<std::array<int, 2>> shapes;
  for (int rows = 1; rows <= num_ranks; ++rows) {
    if (num_ranks % rows == 0) shapes.push_back({rows, num_ranks / rows});
  }
  return shapes;
}

/// An element of 12 bytes.
struct Triple {
  std::int32_t at[3];
  friend bool operator==(const Triple&, const Triple&) = default;
};

/// A number that is different for each cell of any grid in these tests.
inline Index number_of(const GridIndex& cell) {
  return (cell[0] * 101 + cell[1]) * 103 + cell[2] + 1;
}

template <class T>
T element_of(Index number) {
  if constexpr (std::is_same_v<T, Triple>) {
    const auto n = static_cast<std::int32_t>(number);
    return {{n, -n, n / 3}};
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<std::uint8_t>(number % 251);
  } else if constexpr (std::is_same_v<T, std::complex<double>> ||
                       std::is_same_v<T, std::complex<float>>) {
    using Real = typename T::value_type;
    return {static_cast<Real>(number), static_cast<Real>(-2 * number)};
  } else {
    return static_cast<T>(number);
  }
}

/// How one array of a test is divided.
struct NamedLayout {
  std::string name;
  FieldLayout layout;
};

inline std::vector<NamedLayout> layouts_of(const Grid& grid, int num_ranks) {
  std::vector<NamedLayout> all;
  for (const std::array<int, 2>& shape : shapes_of(num_ranks)) {
    const Decomposition d(grid, num_ranks, {.shape = shape});
    const std::string name = std::to_string(shape[0]) + " x " + std::to_string(shape[1]);
    all.push_back({"cells " + name, FieldLayout::of_cells(d)});
    all.push_back({"half modes, transposed, " + name, FieldLayout::of_modes(d, Spectrum::half)});
    all.push_back({"full modes, transposed, " + name, FieldLayout::of_modes(d, Spectrum::full)});
    all.push_back({"half modes, natural, " + name,
                   FieldLayout::of_modes(d, Spectrum::half, ModeOrder::natural)});
  }
  NamedLayout one{"all on the last rank", {}};
  for (int rank = 0; rank < num_ranks; ++rank)
    one.layout.layout.push_back(layout_of(rank == num_ranks - 1 ? grid.index_box() : IndexBox{}));
  all.push_back(one);
  NamedLayout planes{"planes of a part of z, x fastest, rows with gaps", {}};
  for (int rank = 0; rank < num_ranks; ++rank) {
    IndexBox index_box = grid.index_box();
    const Share share = share_of(grid.num[2], num_ranks - 1 - rank, num_ranks);
    index_box.lo[2] = share.first;
    index_box.hi[2] = share.first + share.count;
    index_box.hi[1] = (grid.num[1] + 1) / 2;
    planes.layout.layout.push_back(layout_of(index_box, {2, 1, 0}, grid.num[0] + 3));
  }
  all.push_back(planes);
  return all;
}

/// redistribute() from one layout to another: every cell has its element, everything else is as it
/// was.
template <class T>
void check_redistribution(const Context& context, const FieldLayout& from, const FieldLayout& to) {
  const auto rank = static_cast<std::size_t>(context.comm.rank());
  const BoxLayout& give = from.layout[rank];
  const BoxLayout& take = to.layout[rank];
  std::vector<T> source(static_cast<std::size_t>(give.size), element_of<T>(77777));
  for_cells(give.index_box, [&](const GridIndex& cell) {
    source[static_cast<std::size_t>(give.offset(cell))] = element_of<T>(number_of(cell));
  });
  std::vector<T> expected(static_cast<std::size_t>(take.size), element_of<T>(0));
  Buffer<T> target = to_exec(context.exec, Span<const T>(expected), "test");
  for_cells(take.index_box, [&](const GridIndex& cell) {
    bool is_held = false;
    for (const BoxLayout& layout : from.layout)
      is_held = is_held || layout.index_box.contains(cell);
    if (is_held)
      expected[static_cast<std::size_t>(take.offset(cell))] = element_of<T>(number_of(cell));
  });
  const Buffer<T> uploaded = to_exec(context.exec, Span<const T>(source), "test");
  redistribute(context, from, uploaded.span(), to, target.span());
  CHECK((to_host(context.exec, target) == expected));
  CHECK((to_host(context.exec, uploaded) == source));
}

/// All pairs of layouts, the types of the elements in turn.
inline void check_redistributions(const Context& context, const Grid& grid) {
  const std::vector<NamedLayout> all = layouts_of(grid, context.comm.size());
  int turn = 0;
  for (const NamedLayout& from : all) {
    for (const NamedLayout& to : all) {
      INFO(from.name << " to " << to.name << ", " << grid.num[0] << " x " << grid.num[1] << " x "
                     << grid.num[2]);
      switch (turn++ % 4) {
        case 0: check_redistribution<double>(context, from.layout, to.layout); break;
        case 1: check_redistribution<std::uint8_t>(context, from.layout, to.layout); break;
        case 2: check_redistribution<Triple>(context, from.layout, to.layout); break;
        default: check_redistribution<std::complex<double>>(context, from.layout, to.layout); break;
      }
    }
  }
}

/// The cell of the grid that a ghost is a copy of; false if there is none.
inline bool find_owner_cell(const Grid& grid, const Ghosts& ghosts, GridIndex& cell) {
  for (int axis = 0; axis < 3; ++axis) {
    const Index num = grid.num[axis];
    if (cell[axis] >= 0 && cell[axis] < num) continue;
    if (!ghosts.periodic[axis]) return false;
    cell[axis] = (cell[axis] % num + num) % num;
  }
  return true;
}

/// Cells and ghosts of a rank, as Field promises them.
inline IndexBox cells_and_ghosts(const Decomposition& decomposition, const Ghosts& ghosts,
                                 int rank) {
  const IndexBox cells = decomposition.cells(rank);
  return cells.empty() ? cells : IndexBox{cells.lo - ghosts.below, cells.hi + ghosts.above};
}

/// The elements of a field, on the host, and back.
template <class T>
std::vector<T> read_field(const Context& context, const Field<T>& field) {
  return to_host(context.exec, field.span());
}
template <class T>
void write_field(const Context& context, Field<T>& field, const std::vector<T>& values) {
  copy_bytes(context.exec, field.span().data(), values.data(), values.size() * sizeof(T));
}

/// pull_ghosts(): every ghost is its owner's cell, and those that have none are as they were.
template <class T>
void check_pull(const Context& context, const Decomposition& decomposition, const Ghosts& ghosts) {
  Field<T> field(context, decomposition, ghosts);
  const int rank = context.comm.rank();
  REQUIRE(field.cells() == decomposition.cells(rank));
  REQUIRE(field.layout() == layout_of(cells_and_ghosts(decomposition, ghosts, rank)));
  REQUIRE(field.span().size() == field.layout().size);
  std::vector<T> values(static_cast<std::size_t>(field.layout().size), element_of<T>(-5));
  std::vector<T> expected = values;
  const auto at = [&](const GridIndex& cell) {
    return static_cast<std::size_t>(field.layout().offset(cell));
  };
  for_cells(field.cells(),
            [&](const GridIndex& cell) { values[at(cell)] = element_of<T>(number_of(cell)); });
  for_cells(field.layout().index_box, [&](const GridIndex& cell) {
    GridIndex owner = cell;
    if (find_owner_cell(decomposition.grid(), ghosts, owner))
      expected[at(cell)] = element_of<T>(number_of(owner));
  });
  write_field(context, field, values);
  field.pull_ghosts();
  CHECK((read_field(context, field) == expected));
}

/// What rank `rank` has in a cell or ghost before a push; not representable sums, so that their
/// order matters.
template <class T>
T pushed_value(int rank, const GridIndex& cell) {
  const Index n = ((cell[0] * 37 + cell[1]) * 41 + cell[2]) * 43 + rank;
  const Index hash = (n * 7919 % 10007 + 10007) % 10007;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(hash);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(hash) / static_cast<T>(7.1);
  } else {
    using Real = typename T::value_type;
    return {static_cast<Real>(hash) / static_cast<Real>(7.1),
            static_cast<Real>(hash % 97) / static_cast<Real>(3.3)};
  }
}

/// push_ghosts(): bit for bit what the documented order of adding gives: this rank's own ghosts,
/// then those of ranks 0, 1, ...; of one rank in the order of the images of the grid, x slowest.
template <class T>
void check_push(const Context& context, const Decomposition& decomposition, const Ghosts& ghosts) {
  Field<T> field(context, decomposition, ghosts);
  const int rank = context.comm.rank();
  const auto at = [&](const GridIndex& cell) {
    return static_cast<std::size_t>(field.layout().offset(cell));
  };
  std::vector<T> values(static_cast<std::size_t>(field.layout().size));
  for_cells(field.layout().index_box,
            [&](const GridIndex& cell) { values[at(cell)] = pushed_value<T>(rank, cell); });
  std::vector<T> expected(values.size(), T{});
  for_cells(field.cells(), [&](const GridIndex& cell) { expected[at(cell)] = values[at(cell)]; });
  const GridIndex num = decomposition.grid().num;
  GridIndex max_images;
  for (int axis = 0; axis < 3; ++axis)
    max_images[axis] = ghosts.periodic[axis]
                           ? 1 + std::max(ghosts.below[axis], ghosts.above[axis]) / num[axis]
                           : 0;
  const IndexBox images{max_images * -1, max_images + GridIndex{{1, 1, 1}}};
  const auto add_ghosts_of = [&](int other) {
    const IndexBox index_box = cells_and_ghosts(decomposition, ghosts, other);
    for_cells(images, [&](const GridIndex& image) {
      const GridIndex shift{{image[0] * num[0], image[1] * num[1], image[2] * num[2]}};
      if (other == rank && image == GridIndex{}) return;
      for_cells(field.cells(), [&](const GridIndex& cell) {
        if (index_box.contains(cell + shift))
          expected[at(cell)] += pushed_value<T>(other, cell + shift);
      });
    });
  };
  add_ghosts_of(rank);
  for (int other = 0; other < context.comm.size(); ++other) {
    if (other != rank) add_ghosts_of(other);
  }
  write_field(context, field, values);
  field.push_ghosts();
  CHECK((read_field(context, field) == expected));
}

/// <push(a), b> = <a, pull(b)>, exactly.
inline void check_adjoint(const Context& context, const Decomposition& decomposition,
                          const Ghosts& ghosts) {
  Field<Index> a(context, decomposition, ghosts);
  Field<Index> b(context, decomposition, ghosts);
  const BoxLayout& layout = a.layout();
  Random random(static_cast<std::uint64_t>(context.comm.rank()) + 100);
  std::vector<Index> a_values;
  for (Index i = 0; i < layout.size; ++i) a_values.push_back(random.below(2001) - 1000);
  std::vector<Index> b_values(a_values.size(), 0);
  for_cells(b.cells(), [&](const GridIndex& cell) {
    b_values[static_cast<std::size_t>(layout.offset(cell))] = random.below(2001) - 1000;
  });
  write_field(context, a, a_values);
  write_field(context, b, b_values);
  a.push_ghosts();
  b.pull_ghosts();
  const std::vector<Index> pushed = read_field(context, a);
  const std::vector<Index> pulled = read_field(context, b);
  Index of_push = 0;
  Index of_pull = 0;
  for (std::size_t i = 0; i < a_values.size(); ++i) {
    of_push += pushed[i] * b_values[i];
    of_pull += a_values[i] * pulled[i];
  }
  CHECK(context.comm.sum(of_push) == context.comm.sum(of_pull));
}

}  // namespace zhalo::testing
