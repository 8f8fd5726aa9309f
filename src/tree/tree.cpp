#include "src/tree/tree.hpp"

#include <limits>

#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "kernels/tree.hpp"
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

}  // namespace zhalo
