#include "zhalo/catalogue/catalogue.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/on.hpp"
#include "kernels/particles.hpp"
#include "src/catalogue/group_order.hpp"
#include "src/catalogue/members.hpp"
#include "src/catalogue/properties.hpp"
#include "src/core/synchronise.hpp"
#include "src/core/validate_memory.hpp"
#include "src/domain/sorted_particles.hpp"

namespace zhalo {
namespace {

template <class Real>
void validate_columns(const Context& context, const kernels::ParticlesView<Real>& particles,
                      const GlobalRange& range, int num_types) {
  const auto summary = kernels::on(context.exec, [&](const auto& exec) {
    return kernels::summarize_columns(exec, particles, num_types);
  });
  const auto first = [&](Index count, Index place) {
    return context.comm.min(count > 0 ? range.first + place : std::numeric_limits<Index>::max());
  };
  const Index bad_masses = context.comm.sum(summary.num_bad_mass);
  const Index first_bad_mass = first(summary.num_bad_mass, summary.first_bad_mass);
  validate(
      bad_masses == 0,
      "{} of {} particles have a mass that is not positive and finite, the first is particle {}; "
      "give masses, or repair the snapshot",
      bad_masses, range.total, first_bad_mass);
  const Index bad_types = context.comm.sum(summary.num_bad_type);
  const Index first_bad_type = first(summary.num_bad_type, summary.first_bad_type);
  validate(
      bad_types == 0,
      "{} of {} particles have a type beyond the {} that were announced, the first is particle {}",
      bad_types, range.total, num_types, first_bad_type);
}

void validate_labels(const Context& context, Span<const Index> label, Index num_total) {
  const Index here = kernels::on(context.exec, [&](const auto& exec) {
    return kernels::count_bad_labels(exec, label, num_total);
  });
  const Index bad = context.comm.sum(here);
  validate(bad == 0,
           "{} labels are neither no_group nor a global index of a particle; take them from "
           "friends_of_friends or attach_particles",
           bad);
}

/// What all ranks must have given alike: collectives that follow from it would not meet.
struct Request {
  int dimensions;
  Box box;
  Index min_members;
  int num_types;
  kernels::TypeSet counted;

  friend bool operator==(const Request&, const Request&) = default;
};

void validate_request(const Communicator& comm, const Request& request) {
  validate(request.min_members >= 1, "a group needs at least {} members (must be at least 1)",
           request.min_members);
  validate(request.num_types >= 1, "the number of particle types is {} (must be at least 1)",
           request.num_types);
  validate_box(request.box, request.dimensions);
  const std::vector<Request> of_ranks = comm.all_gather(request);
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    validate(of_ranks[rank] == of_ranks[0],
             "ranks 0 and {} want catalogues with different dimensions, boxes, min_members or "
             "types; give all ranks the same",
             rank);
  }
}

/// All types if none is named.
kernels::TypeSet counted_types(const CatalogueOptions& options) {
  kernels::TypeSet types;
  for (const int type : options.counted_types) {
    validate(type >= 0 && type < options.num_types && type < 256,
             "type {} is to count for the smallest group (there are 0 to {})", type,
             options.num_types - 1);
    types.add(type);
  }
  return types;
}

template <class Real>
GroupOrder order_by_size(const Context& context, const kernels::ParticlesView<Real>& particles,
                         Span<const Index> label, const kernels::TypeSet& counted,
                         const GroupLimits& limits) {
  Buffer<LocalIndex> marks;
  if (limits.only_marked) {
    marks = Buffer<LocalIndex>(context.exec, particles.num, "particles that count");
    kernels::on(context.exec,
                [&](const auto& e) { kernels::mark_types(e, particles, counted, marks.span()); });
  }
  return order_groups(context, {label, marks.span()}, limits);
}

void take_order(const Communicator& comm, GroupOrder& order, Catalogue& catalogue) {
  catalogue.num_groups_total = order.num_total;
  catalogue.first_group = share_of(order.num_total, comm.rank(), comm.size()).first;
  catalogue.length = std::move(order.length);
  catalogue.label = std::move(order.label);
  catalogue.group_of = std::move(order.group_of);
  const Index num = std::accumulate(catalogue.length.begin(), catalogue.length.end(), Index{0});
  Index offset = comm.exclusive_sum(num);
  for (const Index length : catalogue.length) {
    catalogue.offset.push_back(offset);
    offset += length;
  }
  catalogue.num_members_total = comm.sum(num);
  catalogue.first_member = share_of(catalogue.num_members_total, comm.rank(), comm.size()).first;
}

/// On all ranks alike.
template <class Real>
bool have_velocities(const Communicator& comm, const Particles<Real>& particles) {
  const auto has = [&](const ParticleSegment<Real>& segment) {
    const auto first = segment.velocity.begin();
    return segment.num == 0 || std::all_of(first, first + particles.dimensions,
                                           [](const RealColumn& v) { return bool(v); });
  };
  return comm.min(Index{std::all_of(particles.segments.begin(), particles.segments.end(), has)}) ==
         1;
}

/// What is not known is not there: no zeros.
void leave_out_velocities(Catalogue& catalogue) {
  catalogue.has_velocities = false;
  catalogue.velocity.clear();
  catalogue.velocity_dispersion.clear();
}

template <class Real>
Catalogue make(const Context& context, const Particles<Real>& particles, const Box& box,
               Span<const Index> label, const CatalogueOptions& options) {
  const Exec& exec = context.exec;
  const kernels::TypeSet counted = counted_types(options);
  validate_request(context.comm,
                   {particles.dimensions, box, options.min_members, options.num_types, counted});
  validate(label.size() == particles.num(), "there are {} labels for {} particles", label.size(),
           particles.num());
  validate_memory(exec, label, "labels");
  const DeviceParticles<Real> input(exec, particles);
  const GlobalRange range = global_range(context.comm, particles.num());
  validate_columns(context, input.view(), range, options.num_types);
  validate_labels(context, label, range.total);

  const GroupLimits limits{range.total, options.min_members, !options.counted_types.empty()};
  Catalogue catalogue;
  catalogue.num_types = options.num_types;
  GroupOrder order = order_by_size(context, input.view(), label, counted, limits);
  take_order(context.comm, order, catalogue);
  Members members = order_members(context, catalogue.group_of.span(), catalogue.num_groups_total);
  catalogue.members = global_indices(context, members, range.first);
  catalogue.redistribution = members.redistribution;
  const MemberParticles<Real> of_members(context, particles, input.view(), *members.redistribution);
  sum_properties(context, std::move(members), of_members.view(), box, catalogue);
  if (!have_velocities(context.comm, particles)) leave_out_velocities(catalogue);
  synchronise(exec);
  return catalogue;
}

}  // namespace

template <class Real>
Catalogue make_catalogue(const Context& context, const Particles<Real>& particles, const Box& box,
                         Span<const Index> label, const CatalogueOptions& options) {
  return together(context.comm, [&] {
    const PhaseTimer timer(context, "catalogue");
    return make(context, particles, box, label, options);
  });
}

void gather_in_group_order(const Context& context, const Catalogue& catalogue,
                           const ColumnView& column, void* to) {
  context.comm.together([&] {
    validate(column.num == catalogue.group_of.size(), "the column has {} elements for {} particles",
             column.num, catalogue.group_of.size());
    validate(context.comm.min(column.element_size) == context.comm.max(column.element_size),
             "the column's elements have different sizes on different ranks");
    if (column.num > 0) validate_memory(context.exec, column.data, "the column");
    validate_memory(context.exec, to, "the room for the column");
    catalogue.redistribution->forward(context, {{column, to}});
  });
}

template Catalogue make_catalogue(const Context&, const Particles<float>&, const Box&,
                                  Span<const Index>, const CatalogueOptions&);
template Catalogue make_catalogue(const Context&, const Particles<double>&, const Box&,
                                  Span<const Index>, const CatalogueOptions&);

}  // namespace zhalo
