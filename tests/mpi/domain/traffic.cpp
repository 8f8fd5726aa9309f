/// What analyses of a domain send and do: a domain is made once, and then no particle is sorted or
/// sent to a new rank again. Every bound is one that a second sending of the particles would break.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/knn.hpp"
#include "src/tree/tree.hpp"
#include "tests/mpi/domain/analysed.hpp"
#include "zhalo/catalogue/attach.hpp"
#include "zhalo/catalogue/catalogue.hpp"
#include "zhalo/fof/fof.hpp"
#include "zhalo/knn/within.hpp"
#include "zhalo/mesh/paint.hpp"

namespace {

using namespace zhalo;
using namespace zhalo::testing;

using Phases = std::map<std::string, int>;

/// Bytes that all ranks sent to others, and how often this rank began each phase.
struct Work {
  Index sent = 0;
  Phases phases;
  bool operator==(const Work&) const = default;
};

template <class Call>
Work work_of(Analysed& a, const Call& call) {
  Work work;
  a.timers.observe([&](const std::string& name) { ++work.phases[name]; });
  const Index before = a.context.comm.bytes_sent();
  call();
  work.sent = a.context.comm.sum(a.context.comm.bytes_sent() - before);
  a.timers.observe({});
  return work;
}

/// A domain, and what it took to make it: to sort the particles and to send those that moved.
struct Watched : Analysed {
  Work making;
  std::vector<Domain<float>> made;

  explicit Watched(Index num, const std::vector<Particles<float>>& others = {}) : Analysed(num) {
    std::vector<Particles<float>> species{particles};
    species.insert(species.end(), others.begin(), others.end());
    making = work_of(*this, [&] { made.emplace_back(context, species, points.box); });
    CHECK(making.phases["sort"] > 0);
    CHECK(making.phases["distribute"] == (alone() ? 0 : making.phases["sort"]));
    CHECK((making.sent > 0) == !alone());
  }

  bool alone() const { return context.comm.size() == 1; }
  const Domain<float>& domain() const { return made.front(); }
  Index over_ranks(Index count) const { return context.comm.sum(count); }

  /// `bound` is so near that it would not hold if the particles were sent again.
  void check_sent(const Work& work, Index bound) const {
    CHECK(work.sent <= bound);
    if (alone()) {
      CHECK(work.sent == 0);
    } else {
      CHECK(work.sent + making.sent > bound);
    }
  }

  /// Questions that other ranks can be asked: one for each leaf of queries.
  Index bytes_of_balls(int species, int leaf_size) const {
    const auto tree = tree_of(*domain().state(), species, {leaf_size, false});
    return over_ranks(tree->view().level_size[0]) * (context.comm.size() - 1) *
           static_cast<Index>(sizeof(kernels::Ball<float>));
  }
};

struct NeighbourSum {
  double operator()(const Neighbours<float>& neighbours) const {
    double sum = 0;
    for (Index i = 0; i < neighbours.size(); ++i) sum += neighbours.distance(i);
    return sum;
  }
};

struct PairOfNothing {
  void operator()(const Neighbours<float>&, Index) const {}
};

/// A position and a global index.
constexpr Index bytes_of_fetched = 3 * sizeof(float) + sizeof(Index);

/// So that there are few questions beside the particles.
constexpr int large_leaf = 64;

}  // namespace

TEST_CASE("traffic: groups in a domain send ghosts and edges only") {
  Watched a(4000);
  const FofOptions linking{.linking_length = 0.02};
  FofStatistics statistics;
  const auto search = [&] { statistics = friends_of_friends(a.domain(), linking).statistics; };
  const Work first = work_of(a, search);
  const Index ghosts = a.over_ranks(statistics.ghosts_sent);
  const Index edges = a.over_ranks(statistics.edges);
  CHECK(a.over_ranks(statistics.bytes_sent) == first.sent);
  // A ghost is a position and its set. An edge is told to the other rank. In each round both ends
  // send a label, and each of at most two sets per edge is hooked, asks and is answered. In the end
  // each of them tells its smallest index, asks and is answered.
  constexpr Index of_ghost = 3 * sizeof(float) + sizeof(LocalIndex);
  constexpr Index word = sizeof(Index);
  constexpr Index of_sets = Index{2} * 4;  // words: two to hook or to tell, a question, an answer
  const Index of_edge = (1 + statistics.rounds * (2 + of_sets) + of_sets) * word;
  a.check_sent(first, of_ghost * ghosts + of_edge * edges);
  CHECK(first.sent >= of_ghost * ghosts + word * edges);
  CHECK((edges > 0 && ghosts > 0) == !a.alone());

  const Phases alone{{"labels", 1}, {"link", 1}};
  // Of labels the smallest indices of sets come first, and what particles get comes last.
  const Phases together{{"ghosts", 1}, {"labels", 2}, {"link", 1}, {"merge", 1}};
  Work expected{first.sent, a.alone() ? alone : together};
  CHECK(work_of(a, search) == expected);
  expected.phases["tree"] = 1;
  CHECK(first == expected);
  // The domain knows no linking length: its tree serves neighbours, too.
  CHECK(work_of(a, [&] { knn(a.domain(), {.k = 1}); }).phases.count("tree") == 0);
}

TEST_CASE("traffic: groups of particles sort and send them all") {
  Watched a(4000);
  const FofOptions linking{.linking_length = 0.02};
  const Work of_domain = work_of(a, [&] { friends_of_friends(a.domain(), linking); });
  const Work of_particles =
      work_of(a, [&] { friends_of_friends(a.context, a.particles, a.points.box, linking); });
  CHECK(of_particles.phases.at("sort") == 1);
  CHECK(of_particles.phases.count("distribute") == (a.alone() ? 0 : 1));
  // Its labels return to the caller, too.
  if (!a.alone()) CHECK(of_particles.sent > of_domain.sent + a.making.sent);
}

TEST_CASE("traffic: neighbours in a domain send what other ranks ask for") {
  Watched a(4000);
  KnnStatistics statistics;
  const auto search = [&] {
    statistics = knn(a.domain(), {.k = 4, .leaf_size = large_leaf}).statistics;
  };
  const Work first = work_of(a, search);
  CHECK(first.phases.count("sort") + first.phases.count("distribute") == 0);
  CHECK(a.over_ranks(statistics.bytes_sent) == first.sent);
  const Index fetched = a.over_ranks(statistics.fetched);
  a.check_sent(first, bytes_of_fetched * fetched + a.bytes_of_balls(0, large_leaf));
  Work expected{first.sent, {{"results", 1}, {"search", 1}}};
  if (!a.alone())
    expected.phases = {{"fetch", 1}, {"results", 1}, {"search", first.phases.at("search")}};
  CHECK(work_of(a, search) == expected);
  expected.phases["tree"] = 1;
  CHECK(first == expected);
}

TEST_CASE("traffic: counts within a radius send what other ranks ask for, in a kept tree") {
  Watched a(4000);
  knn(a.domain(), {.k = 1, .leaf_size = large_leaf});
  const WithinOptions within{.radius = 0.02, .leaf_size = large_leaf};
  const Work first = work_of(a, [&] { count_within(a.domain(), within); });
  NeighbourSearch search = within.search();
  search.counts_only = true;
  KnnStatistics statistics;
  const Work lists = work_of(a, [&] {
    NeighbourLists<float> counted(a.context, {a.domain(), {}}, a.points.box, search);
    while (counted.next()) continue;
    statistics = counted.statistics();
  });
  Work without_results = first;
  without_results.phases.erase("results");
  CHECK(without_results == lists);
  const Phases alone{{"results", 1}, {"search", 1}};
  const Phases together{{"fetch", 1}, {"results", 1}, {"search", 1}};
  CHECK(first.phases == (a.alone() ? alone : together));
  a.check_sent(
      first, bytes_of_fetched * a.over_ranks(statistics.fetched) + a.bytes_of_balls(0, large_leaf));
}

TEST_CASE("traffic: counts within a radius of the box bring others' particles in batches") {
  Watched a(4000);
  const Index num_ranks = a.context.comm.size();
  const Index max_num = a.context.comm.max(a.domain().num());
  // Room for the lists of as many neighbours: all queries are one chunk, and a batch is no larger.
  const WithinOptions within{
      .radius = 1, .chunk_bytes = max_num * static_cast<Index>(sizeof(float) + sizeof(LocalIndex))};
  std::vector<Index> counts;
  const Work work =
      work_of(a, [&] { counts = to_host(a.context.exec, count_within(a.domain(), within)); });
  const Index num_total = a.domain().num_total();
  CHECK(std::all_of(counts.begin(), counts.end(), [&](Index num) { return num == num_total; }));
  const int num_fetches = a.alone() ? 0 : work.phases.at("fetch");
  CHECK(num_fetches == num_ranks - 1);
}

TEST_CASE("traffic: reductions of neighbours, and functors of pairs, sort and send no more") {
  Watched a(4000);
  const NeighbourSum sum;
  const WithinOptions within{.radius = 0.02};
  const Work lists = work_of(a, [&] { knn(a.domain(), {.k = 4}); });
  const Work nearest = work_of(a, [&] { knn_reduce(a.domain(), {.k = 4}, sum); });
  CHECK(nearest.sent == lists.sent);
  const Work near = work_of(a, [&] { reduce_within(a.domain(), within, sum); });
  const Work pairs =
      work_of(a, [&] { for_each_neighbour_within(a.domain(), within, PairOfNothing{}); });
  CHECK(pairs.sent == near.sent);
  for (const Work& work : {nearest, near, pairs})
    CHECK(work.phases.count("sort") + work.phases.count("distribute") == 0);
}

TEST_CASE("traffic: particles that join groups send what other ranks ask for") {
  Analysed others(1500);
  Random random(5);
  for (float& x : others.rows) x = static_cast<float>(random.uniform());
  Watched a(4000, {others.particles});
  const Buffer<Index> label = friends_of_friends(a.domain(), {.linking_length = 0.02}).label;
  const KnnSpecies species{.queries = 1, .targets = 0};
  const KnnOptions nearest{.k = 1, .max_radius = 0.1};
  KnnStatistics statistics;
  const auto search = [&] {
    const KnnOutput output{.distances = false, .columns = {column_view(label)}};
    statistics = knn(a.domain(), nearest, output, species).statistics;
  };
  search();
  const Work found = work_of(a, search);
  const Work joined = work_of(a, [&] { attach_particles(a.domain(), label.span(), 0.1); });
  CHECK(joined == found);
  CHECK(joined.phases.count("sort") + joined.phases.count("distribute") == 0);
  CHECK(joined.phases.count("tree") == 0);
  constexpr Index of_fetched = bytes_of_fetched + sizeof(Index);
  a.check_sent(joined, of_fetched * a.over_ranks(statistics.fetched) +
                           a.bytes_of_balls(1, KnnOptions{}.leaf_size));
}

/// How many of the ranks' labels are added up on another rank: those of all ranks lie in one order,
/// of which each rank has an even part.
Index labels_elsewhere(const Context& context, const std::set<Index>& labels) {
  const int num_ranks = context.comm.size();
  std::vector<Index> sent;
  for (int rank = 0; rank < num_ranks; ++rank)
    sent.insert(sent.end(), labels.begin(), labels.end());
  const ExchangePlan plan = context.comm.plan_exchange(
      std::vector<Index>(static_cast<std::size_t>(num_ranks), static_cast<Index>(labels.size())));
  std::vector<Index> all(static_cast<std::size_t>(plan.num_received()));
  context.comm.exchange(host_exec(), plan, Span<const Index>(sent), Span<Index>(all));
  std::vector<std::pair<Index, int>> order;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    for (Index i = plan.receive_offset[r]; i < plan.receive_offset[r + 1]; ++i)
      order.emplace_back(all[static_cast<std::size_t>(i)], rank);
  }
  std::sort(order.begin(), order.end());
  Index elsewhere = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto num = static_cast<Index>(order.size());
    if (owner_of(static_cast<Index>(i), num, num_ranks) != order[i].second) ++elsewhere;
  }
  return elsewhere;
}

TEST_CASE("traffic: a catalogue sends labels, members and parts of groups") {
  Watched a(4000);
  const FofResult groups = friends_of_friends(a.domain(), {.linking_length = 0.02});
  const Buffer<Index>& label = groups.label;
  std::vector<Catalogue> made;
  const auto make = [&] {
    made.push_back(make_catalogue(a.domain(), label.span(), {.min_members = 5}));
  };
  const Work first = work_of(a, make);
  CHECK(first.phases == Phases{{"catalogue", 1}});
  CHECK(work_of(a, make) == first);
  const Work of_parts = work_of(a, [&] { make_catalogue(a.domain(), groups, {.min_members = 5}); });
  CHECK(of_parts.phases == first.phases);
  CHECK(of_parts.sent <= first.sent);

  const Catalogue& catalogue = made.front();
  const auto labels = to_host(a.context.exec, label);
  std::set<Index> rows;
  for (const Index row : to_host(a.context.exec, catalogue.group_of))
    if (row != no_group) rows.insert(row);
  const auto is_elsewhere = [&](Index row) {
    return owner_of(row, catalogue.num_groups_total, a.context.comm.size()) !=
           a.context.comm.rank();
  };
  // A label of a rank with its number of members, and its row on the way back. A group, and its row
  // on the way back. A member's key, and its global index. The sums of a rank's part of a group.
  constexpr Index word = sizeof(Index);
  constexpr Index of_label = sizeof(LocalIndex) + 2 * word;
  constexpr Index of_part = word + sizeof(Vec3d) + 2 * sizeof(kernels::HaloReference) +
                            sizeof(kernels::Moments) + sizeof(kernels::Spreads);
  const Index num_labels = labels_elsewhere(a.context, std::set(labels.begin(), labels.end()));
  const Index num_parts = std::count_if(rows.begin(), rows.end(), is_elsewhere);
  const Index of_groups = 3 * catalogue.num_groups_total + 2 * catalogue.num_members_total;
  a.check_sent(first, of_label * num_labels + word * of_groups + of_part * a.over_ranks(num_parts));
}

TEST_CASE("traffic: fields send each particle whose cell another rank has, and nothing else") {
  Watched a(4000);
  Field<float> field(a.context,
                     Decomposition(Grid{{{12, 12, 12}}, a.points.box}, a.context.comm.size()));
  Index foreign = 0;
  for (Index i = 0; i < a.domain().num(); ++i) {
    Vec3d at;
    for (int axis = 0; axis < 3; ++axis) at[axis] = a.domain().position(axis)[i];
    if (field.decomposition().owner_of(at) != a.context.comm.rank()) ++foreign;
  }
  foreign = a.over_ranks(foreign);
  const auto put = [&] { paint(a.domain(), field, {.window = Window::ngp}); };
  const Work painted = work_of(a, put);
  CHECK(painted.sent == foreign * static_cast<Index>(3 * sizeof(float) + sizeof(double)));
  CHECK(work_of(a, put) == painted);
  const auto get = [&] { readout(a.domain(), field, Window::ngp); };
  const Work read = work_of(a, get);
  CHECK(read.sent == foreign * static_cast<Index>(3 * sizeof(float) + sizeof(float)));
  CHECK(work_of(a, get) == read);
  for (const Work& work : {painted, read})
    CHECK(work.phases.count("sort") + work.phases.count("distribute") == 0);
}
