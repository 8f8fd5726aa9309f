/// Index boxes and layouts, against loops over their cells.
#include "zhalo/fft/decomposition.hpp"

#include <catch2/catch.hpp>

#include "src/fft/box_messages.hpp"
#include "tests/support/random.hpp"

namespace {

using namespace zhalo;
using testing::Random;

GridIndex random_index(Random& random, Index lo, Index hi) {
  GridIndex index;
  for (int axis = 0; axis < 3; ++axis) index[axis] = lo + random.below(hi - lo);
  return index;
}

/// Corners anywhere: some index boxes are empty, on one axis or on several.
IndexBox random_box(Random& random) {
  return {random_index(random, -4, 4), random_index(random, -3, 6)};
}

constexpr IndexBox everything{{{-6, -6, -6}}, {{8, 8, 8}}};

template <class Visit>
void for_cells(const IndexBox& index_box, const Visit& visit) {
  for (Index x = index_box.lo[0]; x < index_box.hi[0]; ++x) {
    for (Index y = index_box.lo[1]; y < index_box.hi[1]; ++y) {
      for (Index z = index_box.lo[2]; z < index_box.hi[2]; ++z) visit(GridIndex{{x, y, z}});
    }
  }
}

}  // namespace

TEST_CASE("IndexBox: cells, size and what two have in common") {
  Random random(1);
  int num_empty = 0;
  for (int i = 0; i < 300; ++i) {
    const IndexBox a = random_box(random);
    const IndexBox b = random_box(random);
    const IndexBox both = intersection(a, b);
    Index in_a = 0;
    Index in_both = 0;
    bool agree = true;
    for_cells(everything, [&](const GridIndex& cell) {
      in_a += a.contains(cell) ? 1 : 0;
      in_both += both.contains(cell) ? 1 : 0;
      agree = agree && both.contains(cell) == (a.contains(cell) && b.contains(cell));
    });
    CHECK(agree);
    CHECK(a.size() == in_a);
    CHECK(a.empty() == (in_a == 0));
    CHECK(both.size() == in_both);
    CHECK(intersection(b, a).size() == in_both);
    num_empty += a.empty() ? 1 : 0;
  }
  CHECK(num_empty > 20);
  CHECK(num_empty < 280);
}

TEST_CASE("IndexBox: shifted and grown") {
  const IndexBox index_box{{{1, 2, 3}}, {{4, 4, 4}}};
  CHECK(index_box.shifted({{-1, 0, 10}}) == IndexBox{{{0, 2, 13}}, {{3, 4, 14}}});
  CHECK(index_box.grown({{1, 0, 5}}, {{0, 2, 0}}) == IndexBox{{{0, 2, -2}}, {{4, 6, 4}}});
  CHECK(index_box.length(0) == 3);
  CHECK(IndexBox{{{5, 0, 0}}, {{2, 1, 1}}}.length(0) == 0);
  CHECK(IndexBox{}.empty());
}

TEST_CASE(
    "BoxLayout: cells lie one behind the other in the order of the axes, rows as far apart as "
    "asked") {
  const AxisOrder orders[] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const IndexBox index_box = random_box(random);
    for (const AxisOrder& order : orders) {
      const Index gap = random.below(3);
      const Index pitch = gap == 0 ? 0 : index_box.length(order[2]) + gap;
      const BoxLayout layout = layout_of(index_box, order, pitch);
      CHECK(layout.index_box == index_box);
      CHECK(layout.size == (index_box.empty()
                                ? 0
                                : index_box.length(order[0]) * index_box.length(order[1]) *
                                      (index_box.length(order[2]) + gap)));
      // The next offset, counted without strides.
      Index offset = 0;
      bool agree = true;
      GridIndex cell;
      for (cell[order[0]] = index_box.lo[order[0]]; cell[order[0]] < index_box.hi[order[0]];
           ++cell[order[0]]) {
        for (cell[order[1]] = index_box.lo[order[1]]; cell[order[1]] < index_box.hi[order[1]];
             ++cell[order[1]]) {
          for (cell[order[2]] = index_box.lo[order[2]]; cell[order[2]] < index_box.hi[order[2]];
               ++cell[order[2]])
            agree = agree && layout.offset(cell) == offset++;
          offset += gap;
        }
      }
      CHECK(agree);
    }
  }
}

TEST_CASE(
    "rounds of index boxes: no two of one round overlap, those that overlap keep their order, and "
    "no round can be spared") {
  Random random(3);
  std::size_t max_rounds = 0;
  for (int i = 0; i < 50; ++i) {
    std::vector<IndexBox> index_boxes;
    for (Index b = random.below(20); b > 0; --b) index_boxes.push_back(random_box(random));
    const std::vector<std::size_t> rounds = rounds_of(index_boxes);
    REQUIRE(rounds.size() == index_boxes.size());
    bool ordered = true;
    bool needed = true;
    for (std::size_t later = 0; later < index_boxes.size(); ++later) {
      bool has_reason = rounds[later] == 0;
      for (std::size_t before = 0; before < later; ++before) {
        if (intersection(index_boxes[before], index_boxes[later]).empty()) continue;
        ordered = ordered && rounds[before] < rounds[later];
        has_reason = has_reason || rounds[before] + 1 == rounds[later];
      }
      needed = needed && has_reason;
      max_rounds = std::max(max_rounds, rounds[later]);
    }
    CHECK(ordered);
    CHECK(needed);
  }
  CHECK(max_rounds >= 3);
}
