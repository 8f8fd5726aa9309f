/// What a device runs for each word of a list of moves, run on the host: as a loop over all words
/// says.
#include <catch2/catch.hpp>

#include "kernels/host/parallel.hpp"
#include "kernels/mesh.hpp"
// The loops come first.
#include "kernels/common/mesh/index_boxes.hpp"
#include "tests/support/random_moves.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

}  // namespace

TEST_CASE("index boxes: the texts for devices and for the host do as a loop over all words does") {
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    const RandomMoves moves(random);
    const kernels::BoxMoves list{Span<const kernels::BoxMove>(moves.moves), moves.num_words};
    const std::vector<std::int32_t> from = moves.words(random, moves.from_size);
    const std::vector<std::int32_t> before = moves.words(random, moves.to_size);
    const std::vector<std::int32_t> expected = moves.copied(from, before);

    std::vector<std::int32_t> to = before;
    const kernels::CopyWord<std::int32_t> copy{from.data(), to.data()};
    kernels::for_each(Host{1}, list.num_words,
                      kernels::ActOnWord<kernels::CopyWord<std::int32_t>>{list, copy});
    CHECK(to == expected);
    for (const Index chunk : {1, 7, 100000}) {
      to = before;
      const kernels::ActOnChunk<kernels::CopyWord<std::int32_t>> act{list, copy, chunk};
      kernels::for_each(Host{2}, (list.num_words + chunk - 1) / chunk, act);
      CHECK(to == expected);
    }
  }
}

TEST_CASE("index boxes: quotients of numbers of any length") {
  const Index numbers[] = {
      1, 2, 3, 1000, (Index{1} << 32) - 1, Index{1} << 32, (Index{1} << 62) + 12345};
  for (const Index a : numbers) {
    for (const Index b : numbers) CHECK(kernels::quotient(a, b) == a / b);
  }
}
