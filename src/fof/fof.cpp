#include "zhalo/fof/fof.hpp"

#include <utility>

#include "kernels/on.hpp"
#include "src/core/synchronise.hpp"
#include "src/core/validate.hpp"
#include "src/domain/distribution.hpp"
#include "src/fof/ghosts.hpp"
#include "src/fof/lengths.hpp"
#include "src/tree/tree.hpp"

namespace zhalo {
namespace {

/// The caller's particles and how they are to be sorted.
template <class Real>
struct Input {
  const Context& context;
  const kernels::ParticlesView<Real>& particles;
  const Box& box;
  const FofOptions& options;
  Extent extent;
  KeyFrameChoice choice;
};

/// Links the particles of this rank among themselves. The sets are in `parent`; the view is of the
/// tree, which must live on.
template <class Real>
struct LocalSets {
  Tree<Real> tree;
  Buffer<std::uint8_t> connected;
  LinkedParticles<Real> linked;

  LocalSets(const Input<Real>& input, SortedParticles<Real>& sorted)
      : tree(input.context, sorted, {input.options.leaf_size, input.choice.fine_enough}) {
    sorted.keys = {};
    const Exec& exec = input.context.exec;
    linked.num = tree.view().pos.num;
    linked.parent = Buffer<LocalIndex>(exec, linked.num, "union-find");
    connected = Buffer<std::uint8_t>(exec, tree.view().level_size[0], "union-find");
    kernels::FofView<Real>& fof = linked.fof;
    fof.tree = tree.view();
    fof.sets.parent = linked.parent.span();
    fof.connected = connected.data();
    fof.walk_level = fof.tree.num_levels > 1 && std::holds_alternative<Host>(exec) ? 1 : 0;
    set_lengths(fof, input.box, input.options.linking_length, input.choice.frame.scale);
    fof.let_own_leaves_walk();
    const PhaseTimer timer(input.context, "link");
    kernels::on(exec, [&](const auto& e) {
      kernels::link_inside(e, fof);
      kernels::link_between(e, fof);
    });
  }
};

/// All particles are here: nothing has to travel.
template <class Real>
Buffer<Index> labels_of_one_rank(const Input<Real>& input) {
  const Exec& exec = input.context.exec;
  DistributedParticles<Real> particles = distribute_particles(
      input.context, input.particles, input.choice.frame, {.with_global_index = false});
  const LocalSets<Real> local(input, particles.sorted);
  const PhaseTimer timer(input.context, "labels");
  Buffer<LocalIndex> smallest(exec, local.linked.num, "labels");
  Buffer<Index> label(exec, local.linked.num, "labels");
  const kernels::LabelTarget target{input.extent.range.first, label.span()};
  kernels::on(exec, [&](const auto& e) {
    kernels::write_labels(e, local.linked.fof.sets, particles.redistribution.sent(),
                          smallest.span(), target);
  });
  synchronise(exec);
  return label;
}

/// Replaces the smallest index of each set by that of its component over all ranks.
template <class Real>
void merge_sets(const Context& context, const LinkedParticles<Real>& linked,
                const CrossingEdges& edges, Span<Index> smallest, FofStatistics& statistics) {
  const PhaseTimer timer(context, "merge");
  const Components components = find_components(context.comm, linked.numbering, edges);
  statistics.rounds = components.rounds;
  const Index first = linked.numbering.first[static_cast<std::size_t>(context.comm.rank())];
  std::vector<LocalIndex> roots;
  for (const ComponentOf& node : components.nodes)
    roots.push_back(static_cast<LocalIndex>(node.node - first));
  const auto places = to_exec(context.exec, Span<const LocalIndex>(roots), "sets with edges");
  Buffer<Index> gathered(context.exec, places.size(), "sets with edges");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::gather(e, {smallest.data(), gathered.data(), sizeof(Index)},
                    Span<const LocalIndex>(places.span()));
  });
  std::vector<Index> value = to_host(context.exec, gathered);
  take_smallest(context.comm, linked.numbering, components, value);
  const auto merged = to_exec(context.exec, Span<const Index>(value), "sets with edges");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::scatter(e, {merged.data(), smallest.data(), sizeof(Index)},
                     Span<const LocalIndex>(places.span()));
  });
  synchronise(context.exec);
}

template <class Real>
Numbering number_particles(const Communicator& comm, const DistributedParticles<Real>& particles) {
  Numbering numbering{comm.all_gather(particles.first)};
  numbering.first.push_back(comm.sum(particles.num()));
  return numbering;
}

template <class Real>
Buffer<Index> labels_over_ranks(const Input<Real>& input, FofStatistics& statistics) {
  const Context& context = input.context;
  const Exec& exec = context.exec;
  DistributedParticles<Real> particles =
      distribute_particles(context, input.particles, input.choice.frame);
  LocalSets<Real> local(input, particles.sorted);
  LinkedParticles<Real>& linked = local.linked;
  linked.numbering = number_particles(context.comm, particles);
  statistics.num_local = linked.num;
  const CrossingEdges edges = link_across_ranks(context, linked, input.options, statistics);

  Buffer<Index> smallest(exec, linked.num, "labels");
  kernels::on(exec, [&](const auto& e) {
    kernels::find_smallest(e, linked.fof.sets, particles.global_index.span(), smallest.span());
  });
  particles.global_index = {};
  merge_sets(context, linked, edges, smallest.span(), statistics);

  const PhaseTimer timer(context, "labels");
  Buffer<Index> received(exec, linked.num, "labels");
  kernels::on(exec, [&](const auto& e) {
    kernels::write_set_labels(e, linked.fof.sets, particles.redistribution.arrived(),
                              smallest.span(), received.span());
  });
  smallest = {};
  Buffer<Index> label(exec, input.particles.num, "labels");
  particles.redistribution.backward_as_arrived(context, {column_view(received), label.data()});
  return label;
}

/// What must be the same on all ranks, or they would search for different things.
void validate_agreement(const Communicator& comm, const Box& box, double linking_length) {
  struct Request {
    double linking_length;
    Box box;
  };
  for (const Request& other : comm.all_gather(Request{linking_length, box})) {
    validate(other.linking_length == linking_length && other.box == box,
             "linking length or box are not the same on all ranks: {} here, {} elsewhere "
             "(lengths); give all ranks the same",
             linking_length, other.linking_length);
  }
}

}  // namespace

template <class Real>
FofResult friends_of_friends(const Context& context, const Particles<Real>& particles,
                             const Box& box, const FofOptions& options) {
  return together(context.comm, [&] {
    validate_box(box, particles.dimensions);
    validate_box_fits<Real>(box);
    validate_options(box, options);
    validate_agreement(context.comm, box, options.linking_length);
    const DeviceParticles<Real> on_exec(context.exec, particles);
    Input<Real> input{context, on_exec.view(), box, options, {}, {}};
    {
      const PhaseTimer timer(context, "bounds");
      input.extent = examine_positions(context, on_exec.view(), box);
    }
    const double b = options.linking_length;
    input.choice = choose_key_frame(box, input.extent, clump_cell(b, box.dimensions),
                                    scale_for<Real>(b, box, input.extent));
    FofResult result;
    result.num_wrapped = input.extent.num_wrapped;
    result.num_total = input.extent.range.total;
    const Index sent_before = context.comm.bytes_sent();
    result.statistics.num_local = on_exec.view().num;
    const bool alone = context.comm.size() == 1;
    result.label = alone ? labels_of_one_rank(input) : labels_over_ranks(input, result.statistics);
    result.statistics.bytes_sent = context.comm.bytes_sent() - sent_before;
    return result;
  });
}

template FofResult friends_of_friends(const Context&, const Particles<float>&, const Box&,
                                      const FofOptions&);
template FofResult friends_of_friends(const Context&, const Particles<double>&, const Box&,
                                      const FofOptions&);

}  // namespace zhalo
