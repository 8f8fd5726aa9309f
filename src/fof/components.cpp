#include "src/fof/fof.hpp"

#include <algorithm>
#include <utility>

#include "src/comm/exchange.hpp"

namespace zhalo {
namespace {

struct NodeValue {
  Index node = 0;
  Index value = 0;

  friend bool operator<(const NodeValue& a, const NodeValue& b) {
    return a.node != b.node ? a.node < b.node : a.value < b.value;
  }
};

/// Questions and messages to the ranks that own the nodes.
class Owners {
 public:
  Owners(const Communicator& comm, const Numbering& numbering)
      : comm_(comm), numbering_(numbering) {}

  /// Sends each message to the node's owner; only the smallest value for a node leaves this rank.
  std::vector<NodeValue> tell(std::vector<NodeValue> messages) const {
    std::sort(messages.begin(), messages.end());
    const auto same_node = [](const NodeValue& a, const NodeValue& b) { return a.node == b.node; };
    messages.erase(std::unique(messages.begin(), messages.end(), same_node), messages.end());
    return exchanged(comm_, plan(messages, [](const NodeValue& m) { return m.node; }), messages);
  }

  /// answer(node) of each node's owner, in the order of `nodes`.
  template <class Answer>
  std::vector<Index> ask(const std::vector<Index>& nodes, const Answer& answer) const {
    std::vector<Index> unique = nodes;
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    const ExchangePlan questions = plan(unique, [](Index node) { return node; });
    std::vector<Index> asked = exchanged(comm_, questions, unique);
    for (Index& node : asked) node = answer(node);
    const std::vector<Index> answers = exchanged(comm_, questions.reversed(), asked);
    std::vector<Index> result;
    for (const Index node : nodes) {
      const auto at = std::lower_bound(unique.begin(), unique.end(), node) - unique.begin();
      result.push_back(answers[static_cast<std::size_t>(at)]);
    }
    return result;
  }

 private:
  /// Items in ascending order of their nodes are in the order of the owners, too.
  template <class Item, class NodeOf>
  ExchangePlan plan(const std::vector<Item>& items, const NodeOf& node_of) const {
    std::vector<Index> counts(static_cast<std::size_t>(comm_.size()));
    for (const Item& item : items)
      ++counts[static_cast<std::size_t>(numbering_.owner(node_of(item)))];
    return comm_.plan_exchange(counts);
  }

  const Communicator& comm_;
  const Numbering& numbering_;
};

/// The nodes of one rank and what they know.
class Forest {
 public:
  Forest(const Communicator& comm, const Numbering& numbering, const CrossingEdges& edges)
      : comm_(comm), owners_(comm, numbering), edges_(edges), nodes_(edges.node) {
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    for (const Index node : edges.node) node_of_edge_.push_back(own_index(node));
    parent_ = nodes_;
    grandparent_ = nodes_;
  }

  /// False when nothing has changed on any rank.
  bool improve() {
    const std::vector<Index> best = smallest_of_neighbours();
    hook(best);
    std::vector<Index> grandparent =
        owners_.ask(parent_, [&](Index node) { return parent_[own_index(node)]; });
    const bool changed = grandparent != grandparent_;
    grandparent_ = std::move(grandparent);
    return comm_.max(Index{changed ? 1 : 0}) != 0;
  }

  std::vector<ComponentOf> components() const {
    std::vector<ComponentOf> result;
    for (std::size_t n = 0; n < nodes_.size(); ++n) result.push_back({nodes_[n], grandparent_[n]});
    return result;
  }

 private:
  std::size_t own_index(Index node) const {
    return static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) -
                                    nodes_.begin());
  }

  std::vector<Index> smallest_of_neighbours() const {
    std::vector<Index> send;
    for (const std::size_t n : node_of_edge_) send.push_back(grandparent_[n]);
    const std::vector<Index> received = exchanged(comm_, {edges_.offset, edges_.offset}, send);
    std::vector<Index> best = grandparent_;
    for (std::size_t e = 0; e < received.size(); ++e) {
      Index& smallest = best[node_of_edge_[e]];
      smallest = std::min(smallest, received[e]);
    }
    return best;
  }

  void hook(const std::vector<Index>& best) {
    std::vector<NodeValue> messages;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (best[n] < grandparent_[n]) messages.push_back({parent_[n], best[n]});
      parent_[n] = std::min(parent_[n], best[n]);
    }
    for (const NodeValue& message : owners_.tell(std::move(messages))) {
      Index& parent = parent_[own_index(message.node)];
      parent = std::min(parent, message.value);
    }
  }

  const Communicator& comm_;
  Owners owners_;
  const CrossingEdges& edges_;
  std::vector<Index> nodes_;
  std::vector<std::size_t> node_of_edge_;
  std::vector<Index> parent_;
  std::vector<Index> grandparent_;
};

}  // namespace

int Numbering::owner(Index number) const {
  const auto after = std::upper_bound(first.begin(), first.end(), number);
  return static_cast<int>(after - first.begin()) - 1;
}

Components find_components(const Communicator& comm, const Numbering& numbering,
                           const CrossingEdges& edges) {
  Forest forest(comm, numbering, edges);
  Components components;
  bool changed = comm.max(static_cast<Index>(edges.node.size())) > 0;
  for (; changed; ++components.rounds) changed = forest.improve();
  components.nodes = forest.components();
  return components;
}

void take_smallest(const Communicator& comm, const Numbering& numbering,
                   const Components& components, std::vector<Index>& value) {
  const Owners owners(comm, numbering);
  std::vector<NodeValue> messages;
  std::vector<Index> asked;
  for (std::size_t n = 0; n < components.nodes.size(); ++n) {
    messages.push_back({components.nodes[n].component, value[n]});
    asked.push_back(components.nodes[n].component);
  }
  // A component's number is a node of its owner.
  std::vector<Index> smallest = value;
  const auto own_index = [&](Index node) {
    const auto before = [](const ComponentOf& a, Index number) { return a.node < number; };
    return static_cast<std::size_t>(
        std::lower_bound(components.nodes.begin(), components.nodes.end(), node, before) -
        components.nodes.begin());
  };
  for (const NodeValue& message : owners.tell(std::move(messages))) {
    Index& known = smallest[own_index(message.node)];
    known = std::min(known, message.value);
  }
  value = owners.ask(asked, [&](Index node) { return smallest[own_index(node)]; });
}

}  // namespace zhalo
