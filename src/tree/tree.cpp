#include "src/tree/tree.hpp"

#include <algorithm>
#include <limits>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/tree.hpp"
#include "src/core/host_copies.hpp"
#include "src/core/instantiate.hpp"
#include "src/core/validate.hpp"

namespace zhalo {
namespace {

/// Children per node: a vector or two on the host, a warp's lanes on a device.
constexpr int fanout_of(const Host&) { return 16; }
constexpr int fanout_of(const Cuda&) { return 32; }

constexpr Index rounded_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

template <class Real>
Tree<Real>::Tree(const Context& context, SortedColumns<Real>& particles,
                 const TreeOptions& options) {
  const PhaseTimer timer(context, "tree");
  view_.pos = particles.positions();
  view_.fanout = kernels::on(context.exec, [](const auto& exec) { return fanout_of(exec); });
  make_leaves(context.exec, particles, options);
  make_levels(context.exec);
}

template <class Real>
Tree<Real>::Tree(const Context& context, const kernels::SortedPositions<Real>& pos, int leaf_size) {
  view_.pos = pos;
  view_.fanout = kernels::on(context.exec, [](const auto& exec) { return fanout_of(exec); });
  const Index num_leaves = (pos.num + leaf_size - 1) / leaf_size;
  allocate_leaves(context.exec, rounded_up(num_leaves, view_.fanout));
  const kernels::EvenLeaves leaves{pos.num, leaf_size, leaf_begin_.span(), leaf_end_.span()};
  kernels::on(context.exec, [&](const auto& e) { kernels::write_even_leaves(e, leaves); });
  make_levels(context.exec);
}

template <class Real>
void Tree<Real>::allocate_leaves(const Exec& exec, Index num_leaves) {
  validate(num_leaves <= std::numeric_limits<LocalIndex>::max(),
           "the tree of this rank would have {} leaves, more than {} (use larger leaves or more "
           "ranks)",
           num_leaves, std::numeric_limits<LocalIndex>::max());
  leaf_begin_ = Buffer<LocalIndex>(exec, num_leaves, "leaves");
  leaf_end_ = Buffer<LocalIndex>(exec, num_leaves, "leaves");
  view_.leaf_begin = leaf_begin_.data();
  view_.leaf_end = leaf_end_.data();
  view_.level_size[0] = num_leaves;
}

template <class Real>
void Tree<Real>::make_leaves(const Exec& exec, const SortedColumns<Real>& particles,
                             const TreeOptions& options) {
  const kernels::CellCut cut{particles.keys.span(), particles.frame.key_bits(), options.leaf_size,
                             options.equal_keys_stay};
  const kernels::TreeCells cells =
      kernels::on(exec, [&](const auto& e) { return kernels::cut_tree(e, cut, view_.fanout); });
  allocate_leaves(exec, cells.nodes.size() * view_.fanout);
  const kernels::LeafRanges ranges{cells.leaves.span(), cells.nodes.span(), particles.keys.size(),
                                   view_.fanout,        leaf_begin_.span(), leaf_end_.span()};
  kernels::on(exec, [&](const auto& e) { kernels::write_leaves(e, ranges); });
}

template <class Real>
void Tree<Real>::make_levels(const Exec& exec) {
  Index total = view_.level_size[0];
  view_.num_levels = 1;
  while (view_.level_size[view_.num_levels - 1] > view_.fanout) {
    const Index nodes = view_.level_size[view_.num_levels - 1] / view_.fanout;
    view_.level_first[view_.num_levels] = total;
    view_.level_size[view_.num_levels] = rounded_up(nodes, view_.fanout);
    total += view_.level_size[view_.num_levels];
    ++view_.num_levels;
  }
  for (int axis = 0; axis < 3; ++axis) {
    lo_[axis] = Buffer<Real>(exec, total, "boxes of tree nodes");
    hi_[axis] = Buffer<Real>(exec, total, "boxes of tree nodes");
    view_.boxes.lo[axis] = lo_[axis].data();
    view_.boxes.hi[axis] = hi_[axis].data();
  }
  kernels::on(exec, [&](const auto& e) {
    kernels::leaf_boxes(e, view_);
    for (int level = 1; level < view_.num_levels; ++level) kernels::level_boxes(e, view_, level);
  });
}

template <class Real>
std::shared_ptr<const Tree<Real>> tree_of(DomainState<Real>& domain, int species,
                                          const TreeOptions& options) {
  DomainSpecies<Real>& of = domain.species[static_cast<std::size_t>(species)];
  std::shared_ptr<const void>& kept = of.trees[{options.leaf_size, options.equal_keys_stay}];
  if (!kept) {
    ensure_keys(domain, species);
    kept = std::make_shared<const Tree<Real>>(domain.context, of.particles.sorted, options);
    of.particles.sorted.keys = {};  // 8 bytes a particle, for which few domains have another use
  }
  return std::static_pointer_cast<const Tree<Real>>(kept);
}

template class Tree<float>;
template class Tree<double>;
ZHALO_FOR_REALS(tree_of);

// Coarse boxes.

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

/// Boxes of the upper levels come to the host together: they lie one behind the other.
constexpr Index max_boxes_at_once = 4096;

/// What the host has read of a tree.
template <class Real>
class NodeReader {
 public:
  NodeReader(const Exec& exec, const kernels::TreeView<Real>& tree)
      : exec_(exec), tree_(tree), upper_level_(tree.num_levels) {
    const int top = tree.num_levels - 1;
    const Index end = tree.level_first[top] + tree.level_size[top];
    first_upper_ = end;
    while (upper_level_ > 0 && end - tree.level_first[upper_level_ - 1] <= max_boxes_at_once)
      first_upper_ = tree.level_first[--upper_level_];
    upper_ = read(first_upper_, end - first_upper_);
  }

  /// The nodes from `first` on that have one parent, without the empty ones.
  std::vector<Node> nodes(int level, Index first) const {
    const Index count = std::min<Index>(tree_.fanout, tree_.level_size[level] - first);
    if (count <= 0) return {};
    const Index at = tree_.level_first[level] + first;
    if (level >= upper_level_) return nodes_among(upper_, at - first_upper_, {level, first, count});
    return nodes_among(read(at, count), 0, {level, first, count});
  }

 private:
  // clang-tidy names the loop of the assignment that the compiler makes for arrays.
  struct Boxes {  // NOLINT(bugprone-reserved-identifier)
    std::vector<Real> lo[3];
    std::vector<Real> hi[3];
  };
  struct Siblings {
    int level;
    Index first;
    Index count;
  };

  Boxes read(Index at, Index count) const {
    Boxes boxes;
    HostCopies copies(exec_);
    const auto add = [&](const Real* from, std::vector<Real>& to) {
      to.resize(static_cast<std::size_t>(count));
      copies.add(Span<const Real>(from + at, count), to.data());
    };
    for (int axis = 0; axis < 3; ++axis) {
      add(tree_.boxes.lo[axis], boxes.lo[axis]);
      add(tree_.boxes.hi[axis], boxes.hi[axis]);
    }
    copies.wait();
    return boxes;
  }

  static std::vector<Node> nodes_among(const Boxes& boxes, Index at, const Siblings& siblings) {
    std::vector<Node> nodes;
    for (Index i = 0; i < siblings.count; ++i) {
      Node node{siblings.level, siblings.first + i, {}};
      const auto index = static_cast<std::size_t>(at + i);
      for (int axis = 0; axis < 3; ++axis) {
        node.box.lo[axis] = static_cast<double>(boxes.lo[axis][index]);
        node.box.hi[axis] = static_cast<double>(boxes.hi[axis][index]);
      }
      if (node.box.lo[0] <= node.box.hi[0]) nodes.push_back(node);
    }
    return nodes;
  }

  const Exec& exec_;
  const kernels::TreeView<Real>& tree_;
  int upper_level_;  ///< from it on all levels have been read
  Index first_upper_ = 0;
  Boxes upper_;
};

/// Nodes that are looked at before boxes are joined: enough to follow a rank's borders, few enough
/// for the host.
constexpr std::size_t max_nodes = 512;

/// Half of a box's surface: the particles within a short reach of it are in proportion.
double surface(const kernels::CoarseBox& box) {
  const Vec3d d = box.hi - box.lo;
  return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

struct Counted {
  kernels::CoarseBox box;
  Index count;
};

/// The boxes of the nodes, and the particles below each.
template <class Real>
std::vector<Counted> count_below(const Exec& exec, const kernels::TreeView<Real>& tree,
                                 const std::vector<Node>& nodes) {
  std::vector<Index> leaves;  // the first one of each node, and the one behind its last
  for (const Node& node : nodes) {
    Index num = 1;
    for (int level = 0; level < node.level; ++level) num *= tree.fanout;
    leaves.push_back(node.number * num);
    leaves.push_back((node.number + 1) * num);
  }
  const auto on_exec = to_exec(exec, Span<const Index>(leaves), "coarse boxes");
  Buffer<Index> before(exec, on_exec.size(), "coarse boxes");
  kernels::on(exec, [&](const auto& e) {
    kernels::count_particles_before(e, tree, on_exec.span(), before.span());
  });
  const std::vector<Index> on_host = to_host(exec, before);
  std::vector<Counted> all;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    all.push_back({nodes[i].box, on_host[2 * i + 1] - on_host[2 * i]});
  return all;
}

/// Joins the two neighbours in Z-order whose common box adds the least surface.
void join_cheapest(std::vector<Counted>& boxes) {
  std::size_t best = 0;
  double min_added = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + 1 < boxes.size(); ++i) {
    const double added = surface(around(boxes[i].box, boxes[i + 1].box)) - surface(boxes[i].box) -
                         surface(boxes[i + 1].box);
    if (added >= min_added) continue;
    min_added = added;
    best = i;
  }
  boxes[best] = {around(boxes[best].box, boxes[best + 1].box),
                 boxes[best].count + boxes[best + 1].count};
  boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(best) + 1);
}

}  // namespace

kernels::CoarseBox around(const kernels::CoarseBox& a, const kernels::CoarseBox& b) {
  kernels::CoarseBox both = a;
  for (int axis = 0; axis < 3; ++axis) {
    both.lo[axis] = std::min(both.lo[axis], b.lo[axis]);
    both.hi[axis] = std::max(both.hi[axis], b.hi[axis]);
  }
  return both;
}

bool is_within(const kernels::CoarseBox& a, const kernels::CoarseBox& b,
               const ReachedBoxes& reach) {
  return kernels::gap2(a, b, reach.period) <= reach.reach2;
}

kernels::CoarseBox CoarseBoxes::around_all() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  kernels::CoarseBox all{{{infinity, infinity, infinity}}, {{-infinity, -infinity, -infinity}}};
  for (const kernels::CoarseBox& one : span()) all = around(all, one);
  return all;
}

template <class Real>
CoarseBoxes coarse_boxes(const Exec& exec, const kernels::TreeView<Real>& tree) {
  const NodeReader<Real> reader(exec, tree);
  std::vector<Node> nodes = reader.nodes(tree.num_levels - 1, 0);
  while (!nodes.empty()) {
    const auto smaller = [](const Node& a, const Node& b) {
      return (a.level > 0 ? a.diagonal2() : -1) < (b.level > 0 ? b.diagonal2() : -1);
    };
    const auto largest = std::max_element(nodes.begin(), nodes.end(), smaller);
    if (largest->level == 0 || nodes.size() + static_cast<std::size_t>(tree.fanout) > max_nodes)
      break;
    const std::vector<Node> children =
        reader.nodes(largest->level - 1, largest->number * tree.fanout);
    nodes.insert(nodes.erase(largest), children.begin(), children.end());
  }
  std::vector<Counted> all = count_below(exec, tree, nodes);
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

std::vector<Neighbour> neighbours_within(const Communicator& comm, const CoarseBoxes& own,
                                         const ReachedBoxes& reach) {
  const std::vector<CoarseBoxes> all = comm.all_gather(own);
  std::vector<Neighbour> neighbours;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) continue;
    const CoarseBoxes near = all[static_cast<std::size_t>(rank)].near(own, reach);
    if (near.num > 0) neighbours.push_back({rank, near});
  }
  return neighbours;
}

ZHALO_FOR_REALS(coarse_boxes);

}  // namespace zhalo
