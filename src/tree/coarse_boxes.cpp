#include "src/tree/tree.hpp"

#include <algorithm>
#include <limits>

#include "zhalo/core/buffer.hpp"

namespace zhalo {
namespace {

struct Node {
  int level = 0;
  Index number = 0;
  kernels::CoarseBox box;

  double diagonal2() const {
    const Vec3d d = box.hi - box.lo;
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  }
};

/// Particles before each leaf, and all.
template <class Real>
std::vector<Index> particles_before(const Exec& exec, const kernels::TreeView<Real>& tree) {
  const auto begin = to_host(exec, Span<const LocalIndex>(tree.leaf_begin, tree.level_size[0]));
  const auto end = to_host(exec, Span<const LocalIndex>(tree.leaf_end, tree.level_size[0]));
  std::vector<Index> before{0};
  for (std::size_t leaf = 0; leaf < begin.size(); ++leaf)
    before.push_back(before.back() + Index{end[leaf] - begin[leaf]});
  return before;
}

/// The nodes from `first` on that have one parent, without the empty ones.
template <class Real>
std::vector<Node> read_nodes(const Exec& exec, const kernels::TreeView<Real>& tree, int level,
                             Index first) {
  const Index count = std::min<Index>(tree.fanout, tree.level_size[level] - first);
  std::vector<Node> nodes;
  if (count <= 0) return nodes;
  std::vector<Real> lo[3], hi[3];
  for (int axis = 0; axis < 3; ++axis) {
    const Index at = tree.level_first[level] + first;
    lo[axis] = to_host(exec, Span<const Real>(tree.boxes.lo[axis] + at, count));
    hi[axis] = to_host(exec, Span<const Real>(tree.boxes.hi[axis] + at, count));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    Node node{level, first + static_cast<Index>(i), {}};
    for (int axis = 0; axis < 3; ++axis) {
      node.box.lo[axis] = static_cast<double>(lo[axis][i]);
      node.box.hi[axis] = static_cast<double>(hi[axis][i]);
    }
    if (node.box.lo[0] <= node.box.hi[0]) nodes.push_back(node);
  }
  return nodes;
}

double gap2(const kernels::CoarseBox& a, const kernels::CoarseBox& b, const ReachedBoxes& reach) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double direct = std::max(b.lo[axis] - a.hi[axis], a.lo[axis] - b.hi[axis]);
    const double image =
        reach.period[axis] - (std::max(a.hi[axis], b.hi[axis]) - std::min(a.lo[axis], b.lo[axis]));
    const double gap = std::max(0.0, std::min(direct, image));
    sum += gap * gap;
  }
  return sum;
}

/// Nodes that are looked at before boxes are joined: enough to follow a rank's borders, few enough
/// to read one by one.
constexpr std::size_t max_nodes = 512;

kernels::CoarseBox around(const kernels::CoarseBox& a, const kernels::CoarseBox& b) {
  kernels::CoarseBox both = a;
  for (int axis = 0; axis < 3; ++axis) {
    both.lo[axis] = std::min(both.lo[axis], b.lo[axis]);
    both.hi[axis] = std::max(both.hi[axis], b.hi[axis]);
  }
  return both;
}

/// Half of a box's surface: the particles within a short reach of it are in proportion.
double surface(const kernels::CoarseBox& box) {
  const Vec3d d = box.hi - box.lo;
  return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

struct Counted {
  kernels::CoarseBox box;
  Index count;
};

template <class Real>
Index count_below(const kernels::TreeView<Real>& tree, const Node& node,
                  const std::vector<Index>& before) {
  Index leaves = 1;
  for (int level = 0; level < node.level; ++level) leaves *= tree.fanout;
  const auto at = [&](Index leaf) {
    return before[static_cast<std::size_t>(std::min(leaf, tree.level_size[0]))];
  };
  return at((node.number + 1) * leaves) - at(node.number * leaves);
}

/// Joins the two neighbours in Z-order whose common box adds the least surface.
void join_cheapest(std::vector<Counted>& boxes) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + 1 < boxes.size(); ++i) {
    const double added = surface(around(boxes[i].box, boxes[i + 1].box)) - surface(boxes[i].box) -
                         surface(boxes[i + 1].box);
    if (added >= least) continue;
    least = added;
    best = i;
  }
  boxes[best] = {around(boxes[best].box, boxes[best + 1].box),
                 boxes[best].count + boxes[best + 1].count};
  boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(best) + 1);
}

}  // namespace

bool is_within(const kernels::CoarseBox& a, const kernels::CoarseBox& b,
               const ReachedBoxes& reach) {
  return gap2(a, b, reach) <= reach.reach2;
}

kernels::CoarseBox CoarseBoxes::around_all() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  kernels::CoarseBox all{{{infinity, infinity, infinity}}, {{-infinity, -infinity, -infinity}}};
  for (const kernels::CoarseBox& one : span()) all = around(all, one);
  return all;
}

template <class Real>
CoarseBoxes coarse_boxes(const Exec& exec, const kernels::TreeView<Real>& tree) {
  const std::vector<Index> before = particles_before(exec, tree);
  std::vector<Node> nodes = read_nodes(exec, tree, tree.num_levels - 1, 0);
  while (!nodes.empty()) {
    const auto smaller = [](const Node& a, const Node& b) {
      return (a.level > 0 ? a.diagonal2() : -1) < (b.level > 0 ? b.diagonal2() : -1);
    };
    const auto largest = std::max_element(nodes.begin(), nodes.end(), smaller);
    if (largest->level == 0 || nodes.size() + static_cast<std::size_t>(tree.fanout) > max_nodes)
      break;
    const std::vector<Node> children =
        read_nodes(exec, tree, largest->level - 1, largest->number * tree.fanout);
    nodes.insert(nodes.erase(largest), children.begin(), children.end());
  }
  std::vector<Counted> all;
  all.reserve(nodes.size());
  for (const Node& node : nodes) all.push_back({node.box, count_below(tree, node, before)});
  while (all.size() > kernels::max_coarse_boxes) join_cheapest(all);
  CoarseBoxes boxes;
  for (const Counted& one : all) {
    boxes.box[static_cast<std::size_t>(boxes.num)] = one.box;
    boxes.count[static_cast<std::size_t>(boxes.num++)] = one.count;
  }
  return boxes;
}

CoarseBoxes CoarseBoxes::near(const CoarseBoxes& others, const ReachedBoxes& reach) const {
  CoarseBoxes result;
  if (others.num == 0) return result;
  const kernels::CoarseBox hull = others.around_all();
  for (std::size_t i = 0; i < static_cast<std::size_t>(num); ++i) {
    const auto is_near = [&](const kernels::CoarseBox& other) {
      return is_within(box[i], other, reach);
    };
    const auto all = others.span();
    if (!is_near(hull) || std::none_of(all.begin(), all.end(), is_near)) continue;
    result.box[static_cast<std::size_t>(result.num)] = box[i];
    result.count[static_cast<std::size_t>(result.num++)] = count[i];
  }
  return result;
}

std::vector<Neighbour> higher_neighbours(const Communicator& comm, const CoarseBoxes& own,
                                         const ReachedBoxes& reach) {
  const std::vector<CoarseBoxes> all = comm.all_gather(own);
  std::vector<Neighbour> neighbours;
  for (int rank = comm.rank() + 1; rank < comm.size(); ++rank) {
    const CoarseBoxes near = all[static_cast<std::size_t>(rank)].near(own, reach);
    if (near.num > 0) neighbours.push_back({rank, near});
  }
  return neighbours;
}

template CoarseBoxes coarse_boxes(const Exec&, const kernels::TreeView<float>&);
template CoarseBoxes coarse_boxes(const Exec&, const kernels::TreeView<double>&);

}  // namespace zhalo
