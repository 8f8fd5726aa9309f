/// Components of graphs over many ranks, against union-find over all edges on every rank.
#include "src/fof/fof.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "tests/support/random.hpp"

namespace {

using namespace zhalo;

struct Edge {
  Index a;
  Index b;
};

/// `num` nodes in even parts over the ranks; edges may also be inside a rank (they are left out:
/// their ends are one set there).
struct Graph {
  std::string name;
  Index num;
  std::vector<Edge> edges;
};

Numbering even(Index num, int size) {
  Numbering numbering;
  for (int r = 0; r < size; ++r) numbering.first.push_back(share_of(num, r, size).first);
  numbering.first.push_back(num);
  return numbering;
}

CrossingEdges of_rank(const Graph& graph, const Numbering& numbering, int rank, int size) {
  CrossingEdges mine{{}, {0}};
  for (int other = 0; other < size; ++other) {
    for (const Edge& edge : graph.edges) {
      const int a = numbering.owner(edge.a);
      const int b = numbering.owner(edge.b);
      if (a == b) continue;
      if (a == rank && b == other) mine.node.push_back(edge.a);
      if (b == rank && a == other) mine.node.push_back(edge.b);
    }
    mine.offset.push_back(static_cast<Index>(mine.node.size()));
  }
  return mine;
}

std::vector<Index> expected_components(const Graph& graph, const Numbering& numbering) {
  std::vector<Index> up(static_cast<std::size_t>(graph.num));
  std::iota(up.begin(), up.end(), Index{0});
  const auto root = [&](Index i) {
    while (up[static_cast<std::size_t>(i)] != i) i = up[static_cast<std::size_t>(i)];
    return i;
  };
  for (const Edge& edge : graph.edges) {
    if (numbering.owner(edge.a) == numbering.owner(edge.b)) continue;
    const Index a = root(edge.a);
    const Index b = root(edge.b);
    up[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  std::vector<Index> result;
  for (Index i = 0; i < graph.num; ++i) result.push_back(root(i));
  return result;
}

/// A path through all nodes in the given order.
Graph path(const std::string& name, const std::vector<Index>& order) {
  Graph graph{name, static_cast<Index>(order.size()), {}};
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    graph.edges.push_back({order[i], order[i + 1]});
  return graph;
}

/// Node order of a path that visits the ranks in turn, again and again.
std::vector<Index> winding(Index turns, int size) {
  std::vector<Index> order;
  for (Index turn = 0; turn < turns; ++turn) {
    for (Index rank = 0; rank < size; ++rank) order.push_back(rank * turns + turn);
  }
  return order;
}

std::vector<Graph> all_graphs(int size) {
  testing::Random random(11);
  std::vector<Graph> graphs;
  graphs.push_back({"no edges", 20, {}});
  Graph star{"star", 400, {}};
  for (Index i = 0; i < star.num; ++i) star.edges.push_back({333, i});
  graphs.push_back(star);
  for (const Index num_edges : {100, 300, 1000}) {
    Graph any{"random " + std::to_string(num_edges), 500, {}};
    for (Index e = 0; e < num_edges; ++e)
      any.edges.push_back({random.below(500), random.below(500)});
    graphs.push_back(any);
  }
  for (const Index turns : {1, 3, 64, 1000}) {
    std::vector<Index> order = winding(turns, size);
    graphs.push_back(path("winding", order));
    std::reverse(order.begin(), order.end());
    graphs.push_back(path("winding backwards", order));
    for (std::size_t i = 0; i < order.size(); ++i)
      std::swap(order[i],
                order[static_cast<std::size_t>(random.below(static_cast<Index>(order.size())))]);
    graphs.push_back(path("shuffled", order));
  }
  // Small and large numbers alternate: no neighbour is a step towards the smallest.
  std::vector<Index> zigzag;
  for (Index i = 0; i < 1000; ++i) zigzag.push_back(i % 2 == 0 ? i / 2 : 999 - i / 2);
  graphs.push_back(path("zigzag", zigzag));
  return graphs;
}

}  // namespace

TEST_CASE(
    "components and the smallest value in each; rounds grow with the logarithm of the edges") {
  const Communicator comm(MPI_COMM_WORLD);
  for (const Graph& graph : all_graphs(comm.size())) {
    INFO(graph.name << " of " << graph.num);
    const Numbering numbering = even(graph.num, comm.size());
    const CrossingEdges edges = of_rank(graph, numbering, comm.rank(), comm.size());
    const Components found = find_components(comm, numbering, edges);
    const std::vector<Index> expected = expected_components(graph, numbering);
    std::vector<Index> nodes = edges.node;
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    REQUIRE(found.nodes.size() == nodes.size());
    bool right = true;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      right = right && found.nodes[n].node == nodes[n];
      right = right && found.nodes[n].component == expected[static_cast<std::size_t>(nodes[n])];
    }
    CHECK(right);
    const auto links = static_cast<double>(comm.sum(static_cast<Index>(edges.node.size()))) / 2;
    CHECK(static_cast<double>(found.rounds) <= std::log2(std::max(1.0, links)) + 3);

    const auto value_of = [](Index node) { return (node * 7919) % 100003; };
    std::vector<Index> smallest(static_cast<std::size_t>(graph.num), 1 << 30);
    for (Index i = 0; i < graph.num; ++i) {
      Index& known = smallest[static_cast<std::size_t>(expected[static_cast<std::size_t>(i)])];
      known = std::min(known, value_of(i));
    }
    std::vector<Index> value;
    std::vector<Index> expected_value;
    for (const Index node : nodes) {
      value.push_back(value_of(node));
      // Only nodes with edges count.
      expected_value.push_back(
          smallest[static_cast<std::size_t>(expected[static_cast<std::size_t>(node)])]);
    }
    take_smallest(comm, numbering, found, value);
    CHECK(value == expected_value);
  }
}
