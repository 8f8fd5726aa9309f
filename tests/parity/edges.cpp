// Edges between the sets of ghosts and those of a rank, on every Exec, against a set of pairs.
#include <numeric>
#include <set>
#include <utility>

#include "kernels/fof.hpp"
#include "tests/parity/backends.hpp"
#include "tests/support/random.hpp"

namespace zhalo::testing {
namespace {

/// Particles of this rank and ghosts behind them, in sets; ghosts come from two other ranks.
struct Border {
  std::vector<LocalIndex> parent;
  std::vector<LocalIndex> root_there;  ///< of each ghost's set, on its own rank
  std::vector<Index> receive_offset;
  std::vector<Index> first{5, Index{1} << 40};  ///< index of each rank's first particle
  LocalIndex num_own;

  /// Each ghost is joined with one of the first `num_joined` particles, or with none. `in_runs`:
  /// as the one before it, mostly.
  Border(Index num_particles, Index num_ghosts, Index num_joined, bool in_runs)
      : num_own(static_cast<LocalIndex>(num_particles)) {
    parent.resize(static_cast<std::size_t>(num_particles + num_ghosts));
    std::iota(parent.begin(), parent.end(), LocalIndex{0});
    receive_offset = {0, num_ghosts / 3, num_ghosts};
    Random random(static_cast<std::uint64_t>(num_ghosts + num_joined));
    for (Index ghost = 0; ghost < num_ghosts; ++ghost) {
      const auto element = static_cast<std::size_t>(num_particles + ghost);
      if (in_runs && ghost > 0 && random.below(20) > 0) {
        parent[element] = parent[element - 1] < num_own ? parent[element - 1] : parent[element];
        root_there.push_back(root_there.back());
        continue;
      }
      const auto to = static_cast<LocalIndex>(random.below(num_joined));
      if (random.below(4) > 0) parent[element] = to;
      root_there.push_back(static_cast<LocalIndex>(random.below(7)) << 20);
    }
  }

  using Pairs = std::set<std::pair<Index, LocalIndex>>;
  Pairs pairs() const {
    Pairs all;
    for (std::size_t ghost = 0; ghost < root_there.size(); ++ghost) {
      const LocalIndex root = parent[num_own + ghost];
      const std::size_t rank = static_cast<Index>(ghost) < receive_offset[1] ? 0 : 1;
      if (root < num_own) all.emplace(first[rank] + root_there[ghost], root);
    }
    return all;
  }
};

void check(const Exec& exec, const Border& border) {
  Buffer<LocalIndex> parent = upload(exec, border.parent);
  const auto root = upload(exec, border.root_there);
  const auto offsets = upload(exec, border.receive_offset);
  const auto firsts = upload(exec, border.first);
  const kernels::GhostsView ghosts{
      border.num_own, {offsets.span(), firsts.span()}, root.span(), Index{1} << 41};
  const auto found = to_host(exec, on(exec, [&](const auto& e) {
                               return kernels::find_edges(e, {parent.span()}, ghosts);
                             }));
  std::vector<std::pair<Index, LocalIndex>> as_pairs;
  for (const kernels::GhostEdge& edge : found) as_pairs.emplace_back(edge.remote, edge.local);
  const Border::Pairs expected = border.pairs();
  CHECK(as_pairs == std::vector(expected.begin(), expected.end()));
}

}  // namespace

TEMPLATE_TEST_CASE("edges between ranks come once each, in order", "[parity][small]",
                   ON_EVERY_EXEC) {
  const auto exec = TestType::exec();
  if (!exec) return;
  for (const Index num_ghosts : {0, 1, 2, 40, 5000}) {
    for (const Index num_joined : {1, 3, 900}) {
      for (const bool in_runs : {false, true}) {
        INFO(num_ghosts << " ghosts of " << num_joined << " sets, in runs: " << in_runs);
        check(*exec, Border(1000, num_ghosts, num_joined, in_runs));
      }
    }
  }
}

}  // namespace zhalo::testing
