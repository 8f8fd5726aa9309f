#include "src/tree/tree.hpp"

#include "kernels/kernels.hpp"

namespace zhalo {
namespace {

/// Children per node: a vector or two on the host, a warp's lanes on a device.
constexpr int fanout_of(const Host&) { return 16; }
constexpr int fanout_of(const Cuda&) { return 32; }

constexpr Index rounded_up(Index value, Index multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

template <class Real>
Tree<Real>::Tree(const Context& context, SortedParticles<Real>& particles, const TreeOptions& options) {
  const PhaseTimer timer(context, "tree");
  view_.pos = particles.positions();
  view_.fanout = std::visit([](const auto& exec) { return fanout_of(exec); }, context.exec);
  make_leaves(context.exec, particles, options);
  make_planes(context.exec);
}

template <class Real>
Tree<Real>::Tree(const Context& context, const kernels::SortedPositions<Real>& pos, int leaf_size) {
  view_.pos = pos;
  view_.fanout = std::visit([](const auto& exec) { return fanout_of(exec); }, context.exec);
  const Index num_leaves = (pos.num + leaf_size - 1) / leaf_size;
  make_slots(context.exec, rounded_up(num_leaves, view_.fanout));
  const kernels::EvenSlots slots{pos.num, leaf_size, leaf_begin_.span(), leaf_end_.span()};
  std::visit([&](const auto& e) { kernels::fill_even_slots(e, slots); }, context.exec);
  make_planes(context.exec);
}

template <class Real>
void Tree<Real>::make_slots(const Exec& exec, Index num_slots) {
  leaf_begin_ = Buffer<LocalIndex>(exec, num_slots, "leaves");
  leaf_end_ = Buffer<LocalIndex>(exec, num_slots, "leaves");
  view_.leaf_begin = leaf_begin_.data();
  view_.leaf_end = leaf_end_.data();
  view_.plane_size[0] = num_slots;
}

template <class Real>
void Tree<Real>::make_leaves(const Exec& exec, const SortedParticles<Real>& particles, const TreeOptions& options) {
  const auto cut = [&](const kernels::CellCut& cells) {
    return std::visit([&](const auto& e) { return kernels::cut_cells(e, cells); }, exec);
  };
  const int bits = particles.frame.key_bits();
  const Buffer<LocalIndex> leaves = cut({particles.keys.span(), bits, options.leaf_size, options.equal_keys_stay});
  Buffer<std::uint64_t> leaf_keys(exec, leaves.size(), "leaf keys");
  std::visit([&](const auto& e) { kernels::gather_keys(e, particles.keys.span(), leaves.span(), leaf_keys.span()); }, exec);
  const Buffer<LocalIndex> nodes = cut({leaf_keys.span(), bits, view_.fanout, false});

  make_slots(exec, nodes.size() * view_.fanout);
  const kernels::LeafSlots slots{leaves.span(), nodes.span(),       particles.order.size(),
                                 view_.fanout,  leaf_begin_.span(), leaf_end_.span()};
  std::visit([&](const auto& e) { kernels::fill_slots(e, slots); }, exec);
}

template <class Real>
void Tree<Real>::make_planes(const Exec& exec) {
  Index total = view_.plane_size[0];
  view_.num_planes = 1;
  while (view_.plane_size[view_.num_planes - 1] > view_.fanout) {
    const Index nodes = view_.plane_size[view_.num_planes - 1] / view_.fanout;
    view_.plane_first[view_.num_planes] = total;
    view_.plane_size[view_.num_planes] = rounded_up(nodes, view_.fanout);
    total += view_.plane_size[view_.num_planes];
    ++view_.num_planes;
  }
  for (int axis = 0; axis < 3; ++axis) {
    lo_[axis] = Buffer<Real>(exec, total, "boxes of tree nodes");
    hi_[axis] = Buffer<Real>(exec, total, "boxes of tree nodes");
    view_.boxes.lo[axis] = lo_[axis].data();
    view_.boxes.hi[axis] = hi_[axis].data();
  }
  std::visit(
      [&](const auto& e) {
        kernels::leaf_boxes(e, view_);
        for (int plane = 1; plane < view_.num_planes; ++plane) kernels::plane_boxes(e, view_, plane);
      },
      exec);
}

template class Tree<float>;
template class Tree<double>;

}  // namespace zhalo
