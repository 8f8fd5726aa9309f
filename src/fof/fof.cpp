#include "zhalo/fof/fof.hpp"

#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "kernels/fof.hpp"
#include "kernels/on.hpp"
#include "src/comm/agreement.hpp"
#include "src/core/validate.hpp"
#include "src/domain/domain_state.hpp"
#include "src/domain/positions.hpp"
#include "src/fof/fof.hpp"
#include "src/tree/tree.hpp"
#include "zhalo/comm/context.hpp"
#include "zhalo/core/memory_need.hpp"

namespace zhalo {
namespace {

/// Throws InputError.
void validate_options(const Box& box, const FofOptions& options) {
  const double b = options.linking_length;
  validate(std::isfinite(b) && b > 0, "linking length is {} (must be positive and finite)", b);
  validate(options.leaf_size >= 0 && options.leaf_size <= kernels::max_leaf_size,
           "leaf size is {} (must be 1 to {}, or 0 to choose)", options.leaf_size,
           kernels::max_leaf_size);
  validate(options.ghost_batch >= 0,
           "the ghosts sent at a time are {} (must be positive, or 0 to choose)",
           options.ghost_batch);
  for (int axis = 0; axis < box.dimensions; ++axis) {
    const double length = box.length[axis];
    validate(!box.periodic[axis] || b <= length / 2,
             "linking length {} is more than half the periodic box length {} on axis {}: the "
             "nearest image is not defined; "
             "check its unit",
             b, length, axis);
  }
}

/// Cells of equal keys are smaller than the linking length, or there is but one position: all in
/// one are friends.
template <class Real>
bool cells_are_clumps(const DomainState<Real>& domain, double linking_length) {
  if (all_at_one_position(domain.species[0].extent, domain.box.dimensions)) return true;
  const double cell = clump_cell(linking_length, domain.box.dimensions);
  return domain.key_frame.fine_enough && cell * domain.key_frame.frame.cells_per_length >= 1;
}

/// The same, with a leaf size where none is given. A tree whose cells are no clumps serves searches
/// for neighbours, too.
template <class Real>
FofOptions with_leaf_size(FofOptions options, const DomainState<Real>& domain) {
  const bool is_own_tree = cells_are_clumps(domain, options.linking_length);
  if (options.leaf_size == 0)
    options.leaf_size = std::holds_alternative<Host>(domain.context.exec) && is_own_tree
                            ? 48
                            : TreeOptions{}.leaf_size;
  return options;
}

/// The order in which labels are wanted.
enum class LabelOrder { domain, caller };

/// A search in the first species of a domain.
template <class Real>
struct Search {
  DomainState<Real>& domain;
  FofOptions options;
  LabelOrder order = LabelOrder::domain;

  const Context& context() const { return domain.context; }
  Distribution<Real>& particles() const { return domain.species[0].particles; }
};

/// Links the particles of this rank among themselves. The sets are in `parent`; the view is of the
/// tree, which must live on.
template <class Real>
struct LocalSets {
  std::shared_ptr<const Tree<Real>> tree;
  Buffer<std::uint8_t> connected;
  LinkedSets<Real> linked;

  explicit LocalSets(const Search<Real>& search)
      : tree(tree_of(search.domain, 0,
                     {search.options.leaf_size,
                      cells_are_clumps(search.domain, search.options.linking_length)})) {
    const Exec& exec = search.context().exec;
    linked.num = tree->view().pos.num;
    linked.parent = Buffer<LocalIndex>(exec, linked.num, "union-find");
    connected = Buffer<std::uint8_t>(exec, tree->view().level_size[0], "union-find");
    kernels::FofView<Real>& fof = linked.fof;
    fof.tree = tree->view();
    fof.sets.parent = linked.parent.span();
    fof.connected = connected.data();
    set_lengths(fof, search.domain.box, search.options.linking_length,
                search.domain.key_frame.frame.scale);
    fof.let_own_leaves_walk();
    const PhaseTimer timer(search.context(), "link");
    kernels::on(exec, [&](const auto& e) {
      kernels::link_inside(e, fof);
      kernels::link_between(e, fof);
    });
  }
};

/// All particles are here: indices in the caller's order are the global ones.
template <class Real>
void find_labels_on_one_rank(const Search<Real>& search, FofResult& result) {
  const Context& context = search.context();
  const Exec& exec = context.exec;
  LocalSets<Real> local(search);
  const PhaseTimer timer(context, "labels");
  Buffer<LocalIndex> smallest(exec, local.linked.num, "labels");
  result.label = Buffer<Index>(exec, local.linked.num, "labels");
  const Span<const LocalIndex> order = search.particles().redistribution.sent();
  kernels::on(exec, [&](const auto& e) {
    const kernels::DisjointSets& sets = local.linked.fof.sets;
    kernels::find_smallest(e, sets, order, smallest.span());
    kernels::write_labels(e, sets, result.in_domain_order ? Span<const LocalIndex>() : order,
                          Span<const LocalIndex>(smallest.span()), result.label.span());
  });
  synchronise(exec);
  if (result.in_domain_order) result.parts.root = std::move(local.linked.parent);
}

/// Replaces the smallest index of each set by that of its component over all ranks. Returns the
/// roots of sets that have edges.
template <class Real>
std::vector<LocalIndex> merge_sets(const Context& context, const LinkedSets<Real>& linked,
                                   const CrossingEdges& edges, Span<Index> smallest,
                                   FofStatistics& statistics) {
  const PhaseTimer timer(context, "merge");
  const Components components = find_components(context.comm, linked.numbering, edges);
  statistics.rounds = components.rounds;
  const Index first = linked.numbering.first[static_cast<std::size_t>(context.comm.rank())];
  std::vector<LocalIndex> roots;
  for (const ComponentOf& node : components.nodes)
    roots.push_back(static_cast<LocalIndex>(node.node - first));
  const auto at = to_exec(context.exec, Span<const LocalIndex>(roots), "sets with edges");
  Buffer<Index> gathered(context.exec, at.size(), "sets with edges");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::gather(e, column_view(smallest), Span<const LocalIndex>(at.span()), gathered.data());
  });
  std::vector<Index> value = to_host(context.exec, gathered);
  take_smallest(context.comm, linked.numbering, components, value);
  const auto merged = to_exec(context.exec, Span<const Index>(value), "sets with edges");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::scatter(e, column_view(merged), Span<const LocalIndex>(at.span()), smallest.data());
  });
  synchronise(context.exec);
  return roots;
}

template <class Real>
Numbering number_particles(const Communicator& comm, const Distribution<Real>& particles) {
  Numbering numbering{comm.all_gather(particles.first)};
  numbering.first.push_back(comm.sum(particles.num()));
  return numbering;
}

/// Labels by the smallest global index of each set; in the domain's order the roots, too.
template <class Real>
void write_labels(const Search<Real>& search, LinkedSets<Real>& linked, Buffer<Index> smallest,
                  FofResult& result) {
  const Context& context = search.context();
  const Exec& exec = context.exec;
  Distribution<Real>& particles = search.particles();
  const PhaseTimer timer(context, "labels");
  const auto order =
      result.in_domain_order ? Span<const LocalIndex>() : particles.redistribution.arrived();
  Buffer<Index> label(exec, linked.num, "labels");
  kernels::on(exec, [&](const auto& e) {
    kernels::write_labels(e, linked.fof.sets, order, Span<const Index>(smallest.span()),
                          label.span());
  });
  synchronise(exec);
  if (result.in_domain_order) {
    linked.parent.shrink(linked.num);  // without ghosts
    result.parts.root = std::move(linked.parent);
    result.label = std::move(label);
    return;
  }
  smallest = {};
  result.label = Buffer<Index>(exec, particles.num_brought, "labels");
  particles.redistribution.backward_as_arrived(context, {column_view(label), result.label.data()});
}

/// Of each set on this rank, its particles' smallest global index.
template <class Real>
Buffer<Index> smallest_indices(const Context& context, const LinkedSets<Real>& linked,
                               const Buffer<Index>& global_index) {
  const PhaseTimer timer(context, "labels");
  Buffer<Index> smallest(context.exec, linked.num, "labels");
  kernels::on(context.exec, [&](const auto& e) {
    kernels::find_smallest(e, linked.fof.sets, Span<const Index>(global_index.span()),
                           smallest.span());
  });
  return smallest;
}

template <class Real>
void find_labels(const Search<Real>& search, FofResult& result) {
  const Context& context = search.context();
  if (context.comm.size() == 1) return find_labels_on_one_rank(search, result);
  Distribution<Real>& particles = search.particles();
  LocalSets<Real> local(search);
  LinkedSets<Real>& linked = local.linked;
  linked.numbering = number_particles(context.comm, particles);
  const CrossingEdges edges = link_across_ranks(context, linked, search.options, result.statistics);
  Buffer<Index> smallest = smallest_indices(context, linked, particles.global_index);
  if (!search.domain.is_shared) particles.global_index = {};
  std::vector<LocalIndex> crossing =
      merge_sets(context, linked, edges, smallest.span(), result.statistics);
  if (result.in_domain_order) result.parts.crossing = std::move(crossing);
  write_labels(search, linked, std::move(smallest), result);
}

template <class Real>
FofResult find_groups(const Search<Real>& search, Index sent_before) {
  const Context& context = search.context();
  FofResult result;
  result.in_domain_order = search.order == LabelOrder::domain;
  result.num_wrapped = search.domain.species[0].extent.num_wrapped;
  result.num_total = search.domain.species[0].extent.range.total;
  result.statistics.num_local = search.particles().num();
  find_labels(search, result);
  result.statistics.bytes_sent = context.comm.bytes_sent() - sent_before;
  return result;
}

/// What must be the same on all ranks, or they would search for different things.
void validate_agreement(const Communicator& comm, const Box& box, double linking_length) {
  struct Request {
    double linking_length;
    Box box;
  };
  for (const Request& other : comm.all_gather(Request{linking_length, box})) {
    validate_same("the linking length", linking_length, other.linking_length);
    validate_same(box, other.box);
  }
}

/// Of `need` for so many particles.
template <class Real>
DeviceMemoryScope look_after_memory(const Context& context, Index num,
                                    MemoryNeed (*need)(const SearchSize&)) {
  return {context, fmt::format("friends of friends among {} particles", num), [=](int ranks) {
            return need({num, ranks, std::is_same_v<Real, double>}).peak;
          }};
}

}  // namespace

template <class Real>
FofResult friends_of_friends(const Domain<Real>& domain, const FofOptions& options) {
  const Context& context = domain.context();
  return together(context, [&] {
    validate_options(domain.box(), options);
    validate_agreement(context.comm, domain.box(), options.linking_length);
    FofOptions here = options;
    here.linking_length = equivalent_link(*domain.state(), here.linking_length);
    here = with_leaf_size(here, *domain.state());
    validate_scale<Real>(here.linking_length, domain.state()->key_frame.frame.scale);
    const auto memory = look_after_memory<Real>(context, domain.num_total(), groups_need);
    FofResult found = find_groups<Real>({*domain.state(), here}, context.comm.bytes_sent());
    found.parts.domain = domain.state();
    found.parts.search = std::make_shared<char>();
    return found;
  });
}

template <class Real>
FofResult friends_of_friends(const Context& context, const Particles<Real>& particles,
                             const Box& box, const FofOptions& options) {
  return together(context, [&] {
    validate_box(box, particles.dimensions);
    validate_box_fits<Real>(box);
    validate_options(box, options);
    validate_agreement(context.comm, box, options.linking_length);
    const auto memory = look_after_memory<Real>(context, context.comm.sum(particles.num()),
                                                friends_of_friends_need);
    const Index sent_before = context.comm.bytes_sent();
    const double b = options.linking_length;
    DomainRequest request;
    request.choose = [&](const Extent& extent, const Extent&) {
      return choose_key_frame(box, extent, clump_cell(b, box.dimensions),
                              scale_for<Real>(b, box, extent));
    };
    const auto domain = make_domain<Real>(context, {{particles}}, box, request);
    return find_groups<Real>({*domain, with_leaf_size(options, *domain), LabelOrder::caller},
                             sent_before);
  });
}

template FofResult friends_of_friends(const Domain<float>&, const FofOptions&);
template FofResult friends_of_friends(const Domain<double>&, const FofOptions&);
template FofResult friends_of_friends(const Context&, const Particles<float>&, const Box&,
                                      const FofOptions&);
template FofResult friends_of_friends(const Context&, const Particles<double>&, const Box&,
                                      const FofOptions&);

}  // namespace zhalo
